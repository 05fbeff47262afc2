"""The dashboard: its menu, the chosen run, the page; app.py serves it."""

from kgdash.ui.library.trainings import show_training_line
from kgdash.ui.runtime.memory_bound import memory_bounded
from kgdash.ui.runtime.navigation import navigation, needs_run
from kgdash.ui.runtime.page_turns import page_turn
from kgdash.ui.runtime.page_view import noted_view
from kgdash.ui.runtime.run_picker import current_run, pick_run
from kgdash.ui.runtime.stopover import leave_no_stopovers
from kgdash.ui.runtime.tour import show_tour
from kgdash.ui.runtime.visitors import admit
from kgdash.ui.runtime.warm_up import warm_in_background
from kgdash.ui.widgets.provenance import offer_provenance

admit()
warm_in_background()
page = navigation()
leave_no_stopovers()
with memory_bounded(), page_turn(), noted_view(page):
    pick_run(needs_run(page))
    run = current_run() if needs_run(page) else None
    if run is not None:
        show_training_line()
        offer_provenance(run)
    show_tour(page, run)
    page.run()
