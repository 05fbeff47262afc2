"""kgdash: see where a knowledge-graph embedding can be trusted. Start: streamlit run app.py."""

from kgdash.engine.warm import warm_in_background
from kgdash.ui.navigation import navigation
from kgdash.ui.run_picker import pick_run

warm_in_background()
page = navigation()
pick_run()
page.run()
