"""kgdash: see where a knowledge-graph embedding can be trusted. Start: streamlit run app.py."""

from starlette.middleware import Middleware
from starlette.routing import Route
from streamlit.starlette import App

from kgdash.serving.allocator import give_memory_back, keep_imported
from kgdash.ui.runtime.health import ROUTES
from kgdash.ui.runtime.login import LogInDoor
from kgdash.ui.runtime.messages import KnownMessages
from kgdash.ui.runtime.navigation import to_start
from kgdash.ui.runtime.page_view import note_failure, note_start
from kgdash.ui.runtime.preloading import Preloading
from kgdash.ui.runtime.protection import Protection
from kgdash.ui.runtime.upload_bounds import UploadBounds
from kgdash.ui.widgets.downloads import keep_made_files

note_start()
give_memory_back()
keep_made_files()
layers = (Protection, LogInDoor, UploadBounds, KnownMessages, Preloading)
app = App(
    "dashboard.py",
    middleware=[*map(Middleware, layers)],
    routes=(*ROUTES, Route("/overview", to_start)),
    on_script_error=note_failure,
)
keep_imported()
