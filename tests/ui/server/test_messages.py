"""Messages that no page needs do not reach Streamlit where others are served."""

from uuid import uuid4

import pytest
from google.protobuf.message import DecodeError
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg

from kgdash.serving import pace
from kgdash.serving.settings import SETTING
from kgdash.ui.runtime.visitors import IS_IN, OWNER
from kgdash.ui.server import messages
from kgdash.ui.server.messages import NEEDED, OPERATIONS, KnownMessages

KINDS = [field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields]
OTHERS = {"clear_cache", "load_git_info", "set_run_on_save", "debug_shutdown_runtime"}
OPERATION = "backend_operation_request"


@pytest.fixture
def client():
    async def tell(websocket):
        await websocket.accept()
        async for content in websocket.iter_bytes():
            asked = BackMsg.FromString(content)
            fields = asked.backend_operation_request.ListFields()
            await websocket.send_text(
                " ".join([str(asked.WhichOneof("type")), *(f.name for f, _ in fields)])
            )

    return TestClient(KnownMessages(Starlette(routes=[WebSocketRoute("/", tell)])))


@pytest.fixture
def _served(tmp_path, monkeypatch):
    (tmp_path / "server.toml").write_text("")
    monkeypatch.setenv(SETTING, str(tmp_path / "server.toml"))


def message(kind: str, operation: str = "") -> bytes:
    made = BackMsg()
    if made.DESCRIPTOR.fields_by_name[kind].message_type is None:
        setattr(made, kind, True)
    else:
        getattr(made, kind).SetInParent()
    if operation:
        getattr(made.backend_operation_request, operation).SetInParent()
    return made.SerializeToString()


def arrived(client, *messages: bytes) -> list[str]:
    """Return which of some messages came through."""
    found: list[str] = []
    with client.websocket_connect("/") as socket:
        for content in (*messages, message("stop_script")):
            socket.send_bytes(content)
        while not found or found[-1] != "stop_script":
            found.append(socket.receive_text())
    return found[:-1]


OTHER_KINDS = [kind for kind in KINDS if kind != "stop_script"]


@pytest.mark.usefixtures("_served")
def test_others_send_what_pages_need(client):
    found = arrived(client, *map(message, OTHER_KINDS))
    assert sorted(found) == sorted({*NEEDED, OPERATION} - {"stop_script"})
    assert set(KINDS) >= OTHERS | NEEDED


@pytest.mark.usefixtures("_served")
def test_of_operations_too(client):
    names = ["deferred_file", "install_skills", "dismiss_skills_nudge", "dataframe_chunk"]
    found = arrived(client, *(message(OPERATION, name) for name in names))
    assert found == [f"{OPERATION} {name}" for name in names if name in OPERATIONS]


@pytest.mark.usefixtures("_served")
def test_numbers_of_downloads_command_no_terminal(client):
    def asks(number: str) -> bytes:
        made = BackMsg()
        made.backend_operation_request.deferred_file.file_id = number
        return made.SerializeToString()

    found = arrived(client, asks("\x1b[2J"), asks("12\n"), asks("0" * 33), asks(uuid4().hex))
    assert found == [f"{OPERATION} deferred_file"]


def test_at_this_machine_all_arrive(client):
    assert arrived(client, *map(message, OTHER_KINDS)) == OTHER_KINDS


@pytest.mark.usefixtures("_served")
def test_what_is_no_message_is_streamlits_to_refuse(client):
    with pytest.raises(DecodeError):
        arrived(client, b"\xff\xff\xff")


@pytest.mark.usefixtures("_served")
def test_an_address_is_no_longer_than_one_of_http(client):
    def at(length: int) -> bytes:
        made = BackMsg()
        made.rerun_script.query_string = "a" * length
        return made.SerializeToString()

    assert arrived(client, at(2**16), at(2**16 + 1), at(2**20)) == ["rerun_script"]


@pytest.mark.usefixtures("_served")
def test_what_streamlit_refuses_unread_is_not_read_here(client, monkeypatch):
    monkeypatch.setattr(messages, "get_max_widget_state_size_bytes", lambda: 3)
    monkeypatch.setattr(messages.BackMsg, "FromString", lambda _: pytest.fail("it was read"))
    assert messages._asked({"type": "websocket.receive", "bytes": b"1234"}) is None


@pytest.fixture
def waited(_served, monkeypatch) -> list[float]:
    """Return the waits, in seconds, while the clock stands still."""
    found: list[float] = []

    async def wait(seconds: float) -> None:
        found.append(seconds)

    monkeypatch.setattr(pace.asyncio, "sleep", wait)
    monkeypatch.setattr(pace.time, "monotonic", lambda: 5.0)
    return found


def test_what_comes_faster_than_clicks_waits(client, waited):
    sent = [message("rerun_script")] * 15 + [message("clear_cache")] * 2
    assert len(arrived(client, *sent)) == 15
    # The tab counts, and the message that ends the test.
    assert waited == pytest.approx([0.25, 0.5, 0.75])


def test_long_messages_count_as_many(client, waited):
    made = BackMsg()
    made.rerun_script.page_name = "a" * 2**20
    assert arrived(client, made.SerializeToString())
    assert waited == pytest.approx([2 / 4, 3 / 4])


def test_looks_leave_room_for_clicks(client, waited):
    look = BackMsg()
    look.rerun_script.is_auto_rerun = True
    found = arrived(client, *[look.SerializeToString()] * 50, *[message("rerun_script")] * 5)
    assert len(found) == 8 + 5
    assert not waited


def tab_of(door, owner: str):
    async def of(scope, receive, send):
        await door({**scope, OWNER: owner}, receive, send)

    return TestClient(of).websocket_connect("/")


def test_after_the_log_in_s_end_a_tab_gets_its_page_alone(client, waited):
    """Parts of a page and prepared files do not ask who comes."""
    part, file = BackMsg(), BackMsg()
    part.rerun_script.fragment_id = "a"
    file.backend_operation_request.deferred_file.file_id = "0a"
    sent = [m.SerializeToString() for m in (part, file)] + [message("rerun_script")]
    door, is_in = client.app, True

    async def of(scope, receive, send):
        await door({**scope, IS_IN: lambda: is_in}, receive, send)

    inside = TestClient(of)
    assert len(arrived(inside, *sent)) == 3
    is_in = False
    assert arrived(inside, *sent) == ["rerun_script"]


def test_after_the_log_in_s_end_no_button_is_pressed_but_log_in(waited):
    heard = []

    async def hear(scope, receive, send):
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] != "websocket.disconnect":
            if message["type"] == "websocket.receive":
                heard.append(BackMsg.FromString(message["bytes"]))

    door, made = KnownMessages(hear), BackMsg()
    for key in ("$$ID-1a-stop", "$$ID-2b-log_in", "$$ID-3c-None"):
        made.rerun_script.widget_states.widgets.add(id=key, trigger_value=True)

    async def of(scope, receive, send):
        await door({**scope, IS_IN: lambda: False}, receive, send)

    with TestClient(of).websocket_connect("/") as socket:
        socket.send_bytes(made.SerializeToString())
    (asked,) = heard
    assert [state.id for state in asked.rerun_script.widget_states.widgets] == ["$$ID-2b-log_in"]


def test_tabs_of_one_visitor_share_their_pace(client, waited):
    for _ in range(16):
        with tab_of(client.app, "ada"):
            pass
    assert not waited
    with tab_of(client.app, "ada") as first, tab_of(client.app, "ada"):
        first.send_bytes(message("rerun_script"))
        first.receive_text()
    assert waited == pytest.approx([0.25, 0.5, 0.75])
    with tab_of(client.app, "bob"), tab_of(client.app, ""):
        assert len(waited) == 3


def holding(fields: int, entries: int) -> bytes:
    made = BackMsg()
    states = made.rerun_script.widget_states.widgets
    for _ in range(fields):
        states.add().id = "$$ID-0-"
    states[0].int_array_value.data.extend([0] * entries)
    return made.SerializeToString()


def test_parts_count_as_messages(client, waited):
    """Twelve tabs of messages that are full of parts kept others for a minute."""
    arrived(client, holding(2_000, 7_000), holding(20_001, 0))
    # The tab, two messages (one of 220 kB), 11,000 and 20,000 parts; then what ends the test.
    assert waited == pytest.approx([1 / 4, 21 / 4, 22 / 4])
    waited.clear()
    arrived(client, holding(200, 500))
    assert not waited


@pytest.mark.usefixtures("waited")
def test_a_message_has_no_more_parts_than_pages_need(client):
    nested = BackMsg()
    for _ in range(10_001):
        nested.rerun_script.widget_states.widgets.add(
            id="$$ID-0-a"
        ).string_array_value.SetInParent()
    names = BackMsg()
    names.file_urls_request.file_names.extend([""] * 20_001)
    crowded = [holding(20_001, 0), holding(1, 20_000)]
    crowded += [made.SerializeToString() for made in (names, nested)]
    assert not arrived(client, *crowded)
    assert arrived(client, holding(1_000, 17_900)) == ["rerun_script"]


@pytest.mark.usefixtures("waited")
@pytest.mark.parametrize("field", ["string_value", "json_value"])
def test_what_is_selected_counts_as_parts(client, field):
    """Each `{"":0}` of a message of 1 MB took 200 bytes of a session."""

    def selecting(text: str) -> bytes:
        made = BackMsg()
        setattr(made.rerun_script.widget_states.widgets.add(id="$$ID-0-a"), field, text)
        return made.SerializeToString()

    assert not arrived(client, selecting(' {"x":[' + '{"":0},' * 10_000 + "0]}"))
    rows = ",".join(map(str, range(9_000)))
    short = ["", f'{{"selection":{{"rows":[{rows}]}}}}', "a,{" * 30_000]
    assert arrived(client, *map(selecting, short)) == ["rerun_script"] * 3


@pytest.mark.usefixtures("waited")
@pytest.mark.parametrize(
    "name", ["", "a", "<" * 20_000, "$$ID--a", "$$ID-x-a", "$$ID-0-" + "a" * 4097]
)
def test_names_of_no_widget(client, name):
    """Streamlit writes an unknown one to the log; Rich, which coloured it, took 11 s of all."""

    def named(text: str) -> bytes:
        made = BackMsg()
        made.rerun_script.widget_states.widgets.add(id=text, trigger_value=True)
        return made.SerializeToString()

    assert not arrived(client, named(name))
    assert arrived(client, named("$$ID-0a-a\n" + "b" * 4094)) == ["rerun_script"]


@pytest.mark.usefixtures("_served")
def test_a_connection_that_sends_text_ends(client):
    """Streamlit writes a traceback of each."""
    with client.websocket_connect("/") as socket:
        socket.send_text("hello")
        with pytest.raises(WebSocketDisconnect) as ended:
            socket.receive_text()
    assert ended.value.code == 1003


@pytest.mark.usefixtures("_served")
def test_values_of_no_widget(client):
    """Charts make JSON of bytes, in whatever way they are written."""

    def saying(field: str) -> bytes:
        made = BackMsg()
        value = made.rerun_script.widget_states.widgets.add(id="$$ID-0-a")
        if value.DESCRIPTOR.fields_by_name[field].message_type is None:
            setattr(value, field, b"{}")
        else:
            getattr(value, field).SetInParent()
        return made.SerializeToString()

    assert not arrived(client, *map(saying, ["bytes_value", "arrow_value", "chat_input_value"]))


@pytest.mark.usefixtures("_served")
def test_so_many_options_are_chosen_in_one_field(client):
    """Streamlit looked for 19,000 among 65,536 names, outside a page's turn: others waited 12 s."""

    def choosing(count: int) -> bytes:
        made = BackMsg()
        state = made.rerun_script.widget_states.widgets.add(id="$$ID-0-a")
        state.string_array_value.data.extend(["name"] * count)
        return made.SerializeToString()

    assert arrived(client, choosing(500), choosing(501), choosing(9_000)) == ["rerun_script"]


@pytest.mark.usefixtures("_served")
def test_a_file_is_there_once(client):
    """One of 1 KB that was named 1,200 times took 4.3 GB of a worker until they were compared."""

    def handing_in(*names: str) -> bytes:
        made = BackMsg()
        state = made.rerun_script.widget_states.widgets.add(id="$$ID-0-a")
        for name in names:
            state.file_uploader_state_value.uploaded_file_info.add(file_id=name)
        return made.SerializeToString()

    found = arrived(client, handing_in("a", "b"), handing_in("a", "b", "a"), handing_in())
    assert found == ["rerun_script"] * 2


@pytest.mark.usefixtures("waited")
def test_a_message_asks_where_so_many_files_go(client):
    def asking(count: int) -> bytes:
        made = BackMsg()
        made.file_urls_request.file_names.extend([""] * count)
        return made.SerializeToString()

    assert arrived(client, asking(100), asking(101), asking(20_000)) == ["file_urls_request"]


@pytest.mark.usefixtures("_served")
def test_one_visitor_has_so_many_tabs(client, monkeypatch):
    monkeypatch.setattr(messages, "MOST_TABS", 2)

    def tab(owner: str):
        return tab_of(client.app, owner)

    with tab("ada"), tab("ada"):
        with pytest.raises(WebSocketDisconnect), tab("ada"):
            pass
        with tab("bob"), tab(""), tab(""), tab(""):
            pass
    with tab("ada"):
        pass
