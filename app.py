"""kgdash: see where a knowledge-graph embedding can be trusted. Start: streamlit run app.py."""

from starlette.middleware import Middleware
from streamlit.starlette import App

from kgdash.ui.runtime.health import ROUTES
from kgdash.ui.runtime.page_view import note_failure, note_start
from kgdash.ui.runtime.protection import Protection

note_start()
app = App(
    "dashboard.py",
    middleware=[Middleware(Protection)],
    routes=ROUTES,
    on_script_error=note_failure,
)
