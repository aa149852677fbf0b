"""A course to copy, because nbgrader takes seconds to make one."""

import functools

import nbgrader.api
import pytest

from albert_course.assignments.course import open_course
from tests.assignments.classroom import NAME


@pytest.fixture(scope="session", autouse=True)
def alembic_is_asked_once():
    """Each new gradebook would start a process that says how new its tables are."""
    asked = nbgrader.api.get_alembic_version
    nbgrader.api.get_alembic_version = functools.cache(asked)
    yield
    nbgrader.api.get_alembic_version = asked


@pytest.fixture(scope="session")
def course_to_copy(tmp_path_factory):
    """An empty course whose assignment is due on 2027-01-15, at 8 o'clock in Greenwich."""
    course = tmp_path_factory.mktemp("template") / "out"
    with open_course(course).gradebook as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2027-01-15 08:00 UTC")
    return course
