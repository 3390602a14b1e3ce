"""Plots of fitted models, as scikit-learn displays."""

from modeclust.plotting.cluster_count_display import ClusterCountDisplay
from modeclust.plotting.modes_display import ModesDisplay
from modeclust.plotting.path_display import PathDisplay
from modeclust.plotting.schedule_display import ScheduleDisplay

__all__ = ["ClusterCountDisplay", "ModesDisplay", "PathDisplay", "ScheduleDisplay"]
