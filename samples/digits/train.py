#!/usr/bin/env python3
"""Trains the digit classifier of this sample and compiles it for Metal.

    scripts/setup --train && .venv/bin/python samples/digits/train.py

Data: the 1,797 8x8 pictures of handwritten digits (UCI, Alpaydin and Kaynak 1998) that scikit-learn
ships. A fifth is held out, stratified by digit, and used for nothing but the accuracy that is printed
and the pictures that the sample shows. Writes digits.vmfb (weights inside), pictures/*.png (grey, named
DIGIT-INDEX.png) and expected.csv (JAX's probabilities for those pictures).
"""

import pathlib
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from PIL import Image
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

HERE = pathlib.Path(__file__).resolve().parent
EPOCHS, BATCH, RATE, SHOWN = 60, 128, 2e-3, 16


def init(key):
    keys = jax.random.split(key, 4)
    he = lambda k, shape, fan: jax.random.normal(k, shape) * np.sqrt(2.0 / fan)
    return {
        "conv1": (he(keys[0], (3, 3, 1, 16), 9), jnp.zeros(16)),
        "conv2": (he(keys[1], (3, 3, 16, 32), 144), jnp.zeros(32)),
        "dense1": (he(keys[2], (512, 64), 512), jnp.zeros(64)),
        "dense2": (he(keys[3], (64, 10), 64), jnp.zeros(10)),
    }


def logits(params, pictures):
    """pictures: float32[n, 8, 8], 0 background to 1 ink. Returns float32[n, 10]."""
    x = pictures[..., None]
    for name in ("conv1", "conv2"):
        kernel, bias = params[name]
        x = jax.lax.conv_general_dilated(
            x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jax.nn.relu(x + bias)
    x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = x.reshape(x.shape[0], -1)
    for name, last in (("dense1", False), ("dense2", True)):
        weight, bias = params[name]
        x = x @ weight + bias
        x = x if last else jax.nn.relu(x)
    return x


def loss(params, pictures, labels):
    scores = jax.nn.log_softmax(logits(params, pictures))
    return -jnp.mean(scores[jnp.arange(labels.shape[0]), labels])


@jax.jit
def step(params, moments, count, pictures, labels):
    grads = jax.grad(loss)(params, pictures, labels)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], grads)
    second = jax.tree.map(lambda m, g: 0.999 * m + 0.001 * g * g, moments[1], grads)
    scale = RATE * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    params = jax.tree.map(
        lambda p, m, v: p - scale * m / (jnp.sqrt(v) + 1e-8), params, first, second)
    return params, (first, second)


def shifted(pictures, rng):
    """Each picture moved by up to one pixel in each direction."""
    out = np.zeros_like(pictures)
    for i, (dy, dx) in enumerate(rng.integers(-1, 2, (len(pictures), 2))):
        out[i] = np.roll(np.pad(pictures[i], 1), (dy, dx), (0, 1))[1:-1, 1:-1]
    return out


def main():
    digits = load_digits()
    pictures = (digits.images / 16.0).astype(np.float32)
    index = np.arange(len(pictures))
    train, held = train_test_split(index, test_size=0.2, random_state=0, stratify=digits.target)

    rng = np.random.default_rng(0)
    params = init(jax.random.key(0))
    zeros = jax.tree.map(jnp.zeros_like, params)
    moments, count = (zeros, zeros), 0
    for _ in range(EPOCHS):
        order = rng.permutation(train)
        for at in range(0, len(order) - BATCH + 1, BATCH):
            chosen, count = order[at:at + BATCH], count + 1
            params, moments = step(params, moments, count, shifted(pictures[chosen], rng),
                                   digits.target[chosen])

    guesses = np.asarray(jnp.argmax(logits(params, pictures[held]), axis=1))
    accuracy = np.mean(guesses == digits.target[held])
    print(f"held-out accuracy: {accuracy:.4f} ({len(held)} pictures)")
    if accuracy < 0.97:
        sys.exit("train.py: accuracy is below 0.97; nothing was written")

    weights = jax.tree.map(np.asarray, params)
    classify = jax.jit(lambda picture: jax.nn.softmax(logits(weights, picture)))
    shape = jax.ShapeDtypeStruct((1, 8, 8), jnp.float32)
    exported = export.export(classify, platforms=["cpu"])(shape)
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch) / "digits.mlir"
        source.write_text(str(exported.mlir_module()))
        subprocess.run([pathlib.Path(sys.executable).parent / "iree-compile", source,
                        "--iree-hal-target-device=metal", "--iree-input-type=stablehlo",
                        "-o", HERE / "digits.vmfb"], check=True)

    folder = HERE / "pictures"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.png"):
        old.unlink()
    # The first held-out pictures of each digit in turn, so that all ten are shown.
    shown = sorted(held, key=lambda i: (np.sum(digits.target[held[:list(held).index(i)]] ==
                                               digits.target[i]), digits.target[i]))[:SHOWN]
    rows = []
    for i in shown:
        name = f"{digits.target[i]}-{i:04d}.png"
        grey = np.round(pictures[i] * 255).astype(np.uint8)
        Image.fromarray(grey, "L").save(folder / name)
        probabilities = np.asarray(classify(grey[None].astype(np.float32) / 255))[0]
        rows.append(name + "," + ",".join(f"{p:.8g}" for p in probabilities))
    (HERE / "expected.csv").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
