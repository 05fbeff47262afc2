"""kgdash: see where a knowledge-graph embedding can be trusted. Start: streamlit run app.py."""

from starlette.middleware import Middleware
from starlette.routing import Route
from streamlit.starlette import App

from kgdash.serving.allocator import give_memory_back, keep_imported
from kgdash.ui.runtime.navigation import to_start
from kgdash.ui.runtime.page_view import note_failure, note_start
from kgdash.ui.server.ended_sessions import let_sessions_go
from kgdash.ui.server.health import ROUTES
from kgdash.ui.server.login import LogInDoor
from kgdash.ui.server.made_files import keep_made_files
from kgdash.ui.server.messages import KnownMessages
from kgdash.ui.server.preloading import Preloading
from kgdash.ui.server.protection import Protection
from kgdash.ui.server.upload_bounds import UploadBounds

note_start()
give_memory_back()
keep_made_files()
let_sessions_go()
layers = (Protection, LogInDoor, UploadBounds, KnownMessages, Preloading)
app = App(
    "dashboard.py",
    middleware=[*map(Middleware, layers)],
    routes=(*ROUTES, Route("/overview", to_start)),
    on_script_error=note_failure,
)
keep_imported()
