"""The home, and the database in it, of a command that operators type beside the server: found, or said what is missing.

Such a command only looks: it makes no home, creates no database and changes no schema.
"""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager

from pydantic import ValidationError

from headway.domain.errors import PlatformError
from headway.server import locks
from headway.server.problems import from_validation
from headway.server.settings import Settings
from headway.store.database import Database

LOCK = "server.lock"


def settings_of(given: Mapping[str, object]) -> Settings:
    """Settings from the environment, with what was typed on top. Raises errors that name the setting and its rule."""
    try:
        return Settings.model_validate({key: value for key, value in given.items() if value is not None})
    except ValidationError as error:
        raise from_validation(error.errors()[0]) from None


def has_database(settings: Settings) -> bool:
    """Whether there is one to look into: a file in the home, or an address that was given."""
    return settings.database_url is not None or settings.database_file.exists()


def is_served(settings: Settings) -> bool:
    """Whether a server runs in this home now."""
    return locks.is_held(settings.home / LOCK)


@contextmanager
def database_of(settings: Settings) -> Iterator[Database]:
    """The database as it is. Raises `home-missing`, `home-empty`, `database-older`, `database-newer`."""
    if not has_database(settings):
        code = "home-empty" if settings.home.is_dir() else "home-missing"
        raise PlatformError(code, home=str(settings.home))
    with closing(Database(settings.url)) as database:
        database.check()
        yield database
