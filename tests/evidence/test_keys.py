"""Keys: as the standard computes them, private to their owner, and nothing else is one."""

import os
import stat

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import sfumato as sf
from sfumato.errors import MissingExtraError, OutputError, ParameterError
from sfumato.evidence import PublicKey, SigningKey
from tests.evidence import literal

# RFC 8032, section 7.1, tests 1 and 2: secret key, public key, message, signature.
PRINTED = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555"
            "fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ),
]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(("secret", "public", "message", "signature"), PRINTED)
def test_signatures_are_those_the_standard_prints(secret, public, message, signature):
    raw, said, value = (bytes.fromhex(each) for each in (public, message, signature))
    key = SigningKey(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(secret)))
    assert (key.public.raw, key.sign(said)) == (raw, value)
    for judge in (PublicKey(raw).verifies, lambda s, m: literal.verifies(raw, s, m)):
        assert judge(value, said)
        assert not judge(value, said + b"!")


def test_a_pair_is_written_once_and_only_its_owner_can_read_the_private_key(tmp_path):
    mask = os.umask(0)
    try:
        key = sf.evidence.keygen(tmp_path / "publisher")
    finally:
        os.umask(mask)
    private, public = tmp_path / "publisher.key", tmp_path / "publisher.pub"
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert stat.S_IMODE(public.stat().st_mode) == 0o644
    assert private.read_bytes().startswith(b"-----BEGIN PRIVATE KEY-----\n")
    assert public.read_bytes().startswith(b"-----BEGIN PUBLIC KEY-----\n")
    assert SigningKey.load(private).public == PublicKey.load(public) == key.public
    before = private.read_bytes()
    for name in ("publisher", "publisher.key"):
        with pytest.raises(OutputError, match="exists"):
            sf.evidence.keygen(tmp_path / name)
    assert private.read_bytes() == before


def test_neither_key_is_written_if_one_is_there_already(tmp_path):
    (tmp_path / "a.pub").write_text("mine")
    with pytest.raises(OutputError, match=r"'.*a\.pub' exists"):
        sf.evidence.keygen(tmp_path / "a")
    (tmp_path / "b.key").symlink_to(tmp_path / "nowhere")
    with pytest.raises(OutputError, match=r"'.*b\.key' exists"):
        sf.evidence.keygen(tmp_path / "b")
    with pytest.raises(OutputError, match="cannot write"):
        sf.evidence.keygen(tmp_path / "no" / "folder")
    assert {path.name for path in tmp_path.iterdir()} == {"a.pub", "b.key"}


def test_a_pair_is_both_or_neither(tmp_path, monkeypatch):
    real = os.open

    def full(path, flags, mode=0o777):
        if str(path).endswith(".pub"):
            raise OSError(28, "No space left on device")
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", full)
    with pytest.raises(OutputError, match="No space left"):
        sf.evidence.keygen(tmp_path / "a")
    assert not list(tmp_path.iterdir())


def test_a_passphrase_protects_the_private_key(tmp_path):
    key = sf.evidence.keygen(tmp_path / "a", passphrase="lapis lazuli")
    path = tmp_path / "a.key"
    assert b"ENCRYPTED" in path.read_bytes()
    assert SigningKey.load(path, "lapis lazuli").public == key.public
    with pytest.raises(ParameterError, match="behind a passphrase"):
        SigningKey.load(path)
    with pytest.raises(ParameterError, match="passphrase is wrong"):
        SigningKey.load(path, "ochre")
    with pytest.raises(ParameterError, match="passphrase must be a non-empty text"):
        sf.evidence.keygen(tmp_path / "b", passphrase="")


def test_a_passphrase_for_a_key_that_has_none_is_not_needed(tmp_path):
    key = sf.evidence.keygen(tmp_path / "a")
    assert SigningKey.load(tmp_path / "a.key", "ochre").public == key.public


def pem_of(key):
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def public_pem_of(key):
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


@pytest.mark.parametrize("kind", ["rsa", "ec", "ed448"])
def test_keys_of_another_kind_are_refused(tmp_path, kind):
    key = {
        "rsa": lambda: rsa.generate_private_key(65537, 1024),
        "ec": lambda: ec.generate_private_key(ec.SECP256R1()),
        "ed448": ed448.Ed448PrivateKey.generate,
    }[kind]()
    (tmp_path / "a.key").write_bytes(pem_of(key))
    (tmp_path / "a.pub").write_bytes(public_pem_of(key))
    with pytest.raises(ParameterError, match="another kind"):
        SigningKey.load(tmp_path / "a.key")
    with pytest.raises(ParameterError, match="another kind"):
        PublicKey.load(tmp_path / "a.pub")


def test_a_key_in_the_place_of_the_other_is_refused(tmp_path):
    sf.evidence.keygen(tmp_path / "a")
    with pytest.raises(ParameterError, match="this is a private key"):
        PublicKey.load(tmp_path / "a.key")
    with pytest.raises(ParameterError, match="this is a public key"):
        SigningKey.load(tmp_path / "a.pub")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b"\xff" * 100,
        b"-----BEGIN NONSENSE-----\nAAAA\n-----END NONSENSE-----\n",
        b"x" * 100_000,
    ],
)
def test_a_file_that_is_no_key_is_refused(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    for kind in (SigningKey, PublicKey):
        with pytest.raises(ParameterError, match="must be the file of an Ed25519"):
            kind.load(tmp_path / "a")


def test_a_path_that_leads_to_no_file_is_refused(tmp_path):
    for given in (tmp_path / "nowhere", tmp_path, 42, "a\0b"):
        for kind in (SigningKey, PublicKey):
            with pytest.raises(ParameterError, match="must be the file of an Ed25519"):
                kind.load(given)
    with pytest.raises(ParameterError, match="32 bytes"):
        PublicKey(b"short")


def test_a_private_key_does_not_show_itself():
    key = SigningKey.generate()
    secret = pem_of(key._key).decode().splitlines()[1]
    assert key.public.raw.hex() in repr(key)
    assert secret not in repr(key)
    assert key._key.private_bytes_raw().hex() not in repr(key) + str(key)


def test_public_keys_can_be_compared():
    key = SigningKey.generate().public
    assert {key, PublicKey(key.raw)} == {key}
    assert key != SigningKey.generate().public
    assert repr(key) == f"<PublicKey ed25519:{key.raw.hex()}>"


def test_without_the_library_it_says_how_to_install_it(tmp_path, request):
    sf.evidence.keygen(tmp_path / "a")
    request.getfixturevalue("no_library")
    public = PublicKey(bytes(32))
    for act in (
        lambda: sf.evidence.keygen(tmp_path / "b"),
        lambda: SigningKey.load(tmp_path / "a.key"),
        lambda: PublicKey.load(tmp_path / "a.pub"),
        lambda: public.verifies(bytes(64), b""),
        public.pem,
    ):
        with pytest.raises(MissingExtraError, match=r'pip install "sfumato\[sign\]"'):
            act()


def test_no_private_key_is_made_in_a_release(anonymized):
    before = sorted(anonymized.iterdir())
    with pytest.raises(OutputError, match="is a release, which all readers get"):
        sf.evidence.keygen(anonymized / "publisher")
    assert sorted(anonymized.iterdir()) == before
