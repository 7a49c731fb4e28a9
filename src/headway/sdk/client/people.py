"""The API's routes about the directory: departments, projects, users, their roles and tokens.

Decides nothing; a part of `Client`.
"""

from headway.sdk.client.calls import Calls, Row, Rows, given, part


class People(Calls):
    """Methods of a client, one a route. Moments are ISO 8601 with a zone."""

    def departments(self) -> Rows:
        return self.all("/departments")

    def create_department(self, name: str) -> Row:
        return dict(self.post("/departments", {"name": name}))

    def projects(self) -> Rows:
        return self.all("/projects")

    def create_project(self, name: str, department: str) -> Row:
        return dict(self.post("/projects", {"name": name, "department": department}))

    def create_user(self, name: str, password: str | None = None, unix_name: str | None = None) -> Row:
        return dict(self.post("/users", {"name": name, "password": password, "unix_name": unix_name}))

    def change_password(self, user: str, password: str, current: str | None = None) -> Row:
        """`current`: the present password, which only an administrator may leave out."""
        return dict(self.put(f"/users/{part(user)}/password", given({"password": password, "current": current})))

    def grant_role(self, user: str, role: str, project: str | None = None) -> Row:
        return dict(self.post(f"/users/{part(user)}/roles", {"role": role, "project": project}))

    def withdraw_role(self, user: str, role: str, project: str | None = None) -> Row:
        """The roles that are left; `project` None: the role that holds everywhere."""
        path = f"/users/{part(user)}/roles/{part(role)}"
        return dict(self._transport.json("DELETE", path, params=given({"project": project})))

    def issue_token(self, user: str, days: int = 90) -> Row:
        """`{"token", "user"}`: told once."""
        return dict(self.post(f"/users/{part(user)}/tokens", {"days": days}))

    def tokens(self, user: str) -> Rows:
        """A user's tokens by id; the tokens themselves are never told again."""
        return self.all(f"/users/{part(user)}/tokens")

    def revoke_token(self, user: str, token: str) -> Row:
        """What the token of this id was."""
        return dict(self._transport.json("DELETE", f"/users/{part(user)}/tokens/{part(token)}"))
