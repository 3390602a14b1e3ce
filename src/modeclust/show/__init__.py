"""Pictures and pages of fitted models."""

from modeclust.show.modes_display import ModesDisplay
from modeclust.show.path_display import PathDisplay
from modeclust.show.schedule_display import ScheduleDisplay

__all__ = ["ModesDisplay", "PathDisplay", "ScheduleDisplay"]
