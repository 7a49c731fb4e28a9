"""The loops a server turns, and how often each looks when nobody wakes it."""

from headway.server.loops.advise import Advise
from headway.server.loops.alert import alert
from headway.server.loops.clear import clear
from headway.server.loops.diagnose import diagnose
from headway.server.loops.dispatch import dispatch
from headway.server.loops.drill import drill
from headway.server.loops.expire import expire
from headway.server.loops.forecast import LookAhead
from headway.server.loops.meter import meter
from headway.server.loops.notify import Notify
from headway.server.loops.observe import Observe
from headway.server.loops.read import ReadOutput
from headway.server.loops.recover import recover
from headway.server.loops.retain import examine_checkpoints, persist, retain
from headway.server.loops.retest import retest
from headway.server.loops.runner import Loop
from headway.server.loops.schedule import Schedule
from headway.server.loops.serve import Serve
from headway.server.loops.thin import Foresee, Thin
from headway.server.loops.watch import WatchStalls


def all_loops() -> tuple[Loop, ...]:
    """Fresh loops, each with its own memory."""
    return (
        Loop("schedule", 1.0, Schedule()),
        Loop("expire", 10.0, expire),
        Loop("forecast", 1.0, LookAhead()),
        Loop("dispatch", 2.0, dispatch),
        Loop("observe", 1.0, Observe()),
        Loop("read", 2.0, ReadOutput()),
        Loop("watch", 1.0, WatchStalls()),
        Loop("diagnose", 5.0, diagnose()),
        Loop("recover", 5.0, recover()),
        Loop("drill", 2.0, drill),
        Loop("retest", 5.0, retest),
        Loop("meter", 10.0, meter),
        Loop("advise", 10.0, Advise()),
        Loop("alert", 5.0, alert),
        Loop("notify", 2.0, Notify()),
        Loop("serve", 0.5, Serve()),
        Loop("persist", 1.0, persist),
        Loop("verify", 1.0, examine_checkpoints()),
        Loop("retain", 600.0, retain),
        Loop("thin", 10.0, Thin()),
        Loop("clear", 3600.0, clear),
        Loop("foresee", 60.0, Foresee()),
    )
