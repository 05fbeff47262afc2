"""Log-ins cost the provider and the server little, whoever begins how many."""

import asyncio

import httpx
import pytest
from authlib.integrations import starlette_client
from authlib.integrations.base_client.async_app import AsyncOAuth2Mixin

from kgdash.serving import provider
from kgdash.serving.provider import ProviderApp, ProviderClient, spare_provider
from tests.support.own_loop import run_apart

ADDRESS = "https://id.example.org/.well-known/openid-configuration"


def test_clients_share_the_certificates_that_are_trusted(monkeypatch):
    read = []
    provider._trusted.cache_clear()
    create = httpx.create_ssl_context
    monkeypatch.setattr(httpx, "create_ssl_context", lambda: read.append(1) or create())
    monkeypatch.setattr(httpx._config, "create_ssl_context", lambda **_: 1 / 0)
    for _ in range(3):
        ProviderClient("kgdash", "secret")
    assert len(read) == 1


@pytest.mark.parametrize(
    ("parts", "error"),
    [([b"{}"], ""), ([b"a" * 2**19] * 3, "too much"), ([b"a"] * 30, "does not answer")],
)
def test_answers_have_a_bound_and_an_end(monkeypatch, parts, error):
    """One of 0.3 GB took 0.8 GB, and a byte a second kept a turn until that was ended."""
    monkeypatch.setattr(provider, "_PATIENCE", 1.0)

    async def come() -> None:
        async def said():
            for part in parts:
                await asyncio.sleep(0.2 if len(part) == 1 else 0)
                yield part

        answers = httpx.MockTransport(lambda request: httpx.Response(200, content=said()))
        async with ProviderClient("kgdash", "secret", transport=answers) as client:
            if not error:
                assert (await client.request("GET", ADDRESS, withhold_token=True)).json() == {}
                return
            with pytest.raises(httpx.HTTPError, match=error):
                await client.request("GET", ADDRESS, withhold_token=True)

    run_apart(come())


def test_addresses_are_asked_for_once_by_all(monkeypatch):
    monkeypatch.setattr(ProviderApp, "_said", {})
    now, asked = [1000.0], []

    async def load(self):
        asked.append(self._server_metadata_url)
        await asyncio.sleep(0)
        if len(asked) == 1:
            raise httpx.ConnectError("away")
        return {"_loaded_at": now[0], "authorization_endpoint": f"https://id/{len(asked)}"}

    monkeypatch.setattr(AsyncOAuth2Mixin, "load_server_metadata", load)
    monkeypatch.setattr(provider.time, "time", lambda: now[0])

    def new() -> ProviderApp:
        return ProviderApp(None, server_metadata_url=ADDRESS)

    async def ask(count: int) -> list:
        return await asyncio.gather(*(new().load_server_metadata() for _ in range(count)))

    async def all_asked() -> None:
        with pytest.raises(httpx.ConnectError):
            await ask(3)
        first = await ask(5)
        assert asked == [ADDRESS] * 2  # what failed is not kept
        first[0]["jwks"] = "changed by one"
        now[0] += 299
        assert await ask(1) == first[1:2] == [first[2]]
        now[0] += 2
        assert (await ask(1))[0]["authorization_endpoint"] == "https://id/3"

    run_apart(all_asked())


def test_streamlit_makes_such_clients(monkeypatch):
    from streamlit.web.server.starlette import starlette_auth_routes

    monkeypatch.setattr(starlette_client, "StarletteOAuth2App", starlette_client.StarletteOAuth2App)
    spare_provider()
    starlette_auth_routes._create_streamlit_oauth_class.cache_clear()
    made = starlette_auth_routes._create_streamlit_oauth_class(starlette_client)
    assert issubclass(made.oauth2_client_cls, ProviderApp)
    starlette_auth_routes._create_streamlit_oauth_class.cache_clear()
