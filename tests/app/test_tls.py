"""The app for other machines: by TLS and a password, in a real browser."""

import datetime as dt
import ipaddress

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from playwright.sync_api import expect

from tests.app.browsing import axe
from tests.app.serving import serving

PASSWORD = "correct horse battery"


@pytest.fixture
def secured(tmp_path):
    """The app behind a certificate that it signed itself, and a password."""
    write_certificate(tmp_path / "own.pem", tmp_path / "own.key")
    (tmp_path / "password.txt").write_text(PASSWORD + "\n")
    folder = tmp_path / "work"
    folder.mkdir()
    options = (
        *("--host", "127.0.0.1", "--certificate", str(tmp_path / "own.pem")),
        *("--key", str(tmp_path / "own.key"), "--password-file", str(tmp_path / "password.txt")),
    )
    with serving(folder, tmp_path / "said.txt", *options) as found:
        yield found


def write_certificate(certificate, key):
    secret = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = dt.datetime.now(dt.UTC)
    host = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(secret.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now)
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([host]), critical=False)
        .sign(secret, hashes.SHA256())
    )
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    nothing = serialization.NoEncryption()
    key.write_bytes(secret.private_bytes(serialization.Encoding.PEM, form, nothing))


def test_who_says_the_password_comes_in(browser, secured):
    assert secured.origin.startswith("https://")
    context = browser.new_context(ignore_https_errors=True, locale="en-GB")
    context.set_default_timeout(300_000)
    try:
        page = context.new_page()
        page.goto(secured.origin)
        assert axe(page) == []
        page.get_by_label("Password").fill("a wrong one, and long")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_have_text("The password is not right.")
        assert context.cookies() == []
        assert page.request.get(f"{secured.origin}{secured.base}/data").status == 403
        page.get_by_label("Password").fill(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("Data")
        (cookie,) = context.cookies()
        assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"]) == (True, True, "Strict")
        page.wait_for_load_state()
        page.select_option("#language", "de")
        expect(page.locator("h1")).to_have_text("Daten")
    finally:
        context.close()


def test_nothing_is_told_without_tls(secured):
    """Who asks in the clear gets no page, and nothing of it."""
    secured.scheme = "http"
    with pytest.raises(OSError, match=r".*"):
        secured.send("GET", "/")
    secured.scheme = "https"
    assert PASSWORD not in secured.said()
