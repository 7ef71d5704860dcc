"""Tests of the Python package; expected values are NumPy's."""

import os
import pathlib
import threading
import unittest

import numpy

import bessemer

CORPUS = pathlib.Path(os.environ.get(
    "BESSEMER_CORPUS", pathlib.Path(__file__).parents[2] / "tests" / "corpus" / "cases"))
MULTIPLY = CORPUS / "simple_mul" / "model.metal.vmfb"


def program(name, **options):
    return bessemer.load(CORPUS / name / "model.metal.vmfb", **options)


class Dlpack:
    """An array that is no NumPy array and speaks DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class ProgramTest(unittest.TestCase):
    def test_multiplies(self):
        a = numpy.array([1, 2, 3, 4], numpy.float32)
        b = numpy.array([0.5, -2, 8, 0], numpy.float32)
        y = bessemer.load(MULTIPLY).main(a, b)
        self.assertEqual(y.dtype, numpy.float32)
        numpy.testing.assert_array_equal(y, a * b)

    def test_results_outlive_the_program(self):
        ones = numpy.ones(4, numpy.float32)
        y = bessemer.load(MULTIPLY).main(ones, ones)
        numpy.testing.assert_array_equal(y + 1, [2, 2, 2, 2])

    def test_strided_and_foreign_byte_order(self):
        a = numpy.arange(8, dtype=numpy.float32)[::2]
        b = numpy.array([1, 2, 3, 4], ">f4")
        numpy.testing.assert_array_equal(bessemer.load(MULTIPLY).main(a, b), a * b)

    def test_dlpack_both_ways(self):
        a = numpy.array([1, 2, 3, 4], numpy.float32)
        y = bessemer.load(MULTIPLY).main(Dlpack(a), Dlpack(a))
        numpy.testing.assert_array_equal(numpy.from_dlpack(Dlpack(y)), a * a)

    def test_bytes(self):
        a = numpy.ones(4, numpy.float32)
        loaded = bessemer.load(MULTIPLY.read_bytes())
        numpy.testing.assert_array_equal(loaded.main(a, 2 * a), 2 * a)

    def test_state_and_numbers(self):
        ema = program("stateful_ema")
        self.assertEqual(sorted(ema.functions()), ["reset", "step", "steps_done"])
        ema.step(numpy.ones(10, numpy.float32))
        ema.step(numpy.ones(10, numpy.float32))
        self.assertEqual(ema.steps_done(), 2)
        self.assertIsNone(ema.reset())
        self.assertEqual(ema["steps_done"](), 0)

    def test_parameters(self):
        case = CORPUS / "params_irpa"
        loaded = program("params_irpa", parameters={"model": case / "model.irpa"})
        inputs = [numpy.load(f) for f in sorted((case / "inputs").glob("*.npy"))]
        expected = [numpy.load(f) for f in sorted((case / "expected").glob("*.npy"))]
        results = loaded.main(*inputs)
        for got, want in zip(results if isinstance(results, tuple) else [results], expected):
            numpy.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
        with self.assertRaisesRegex(bessemer.Error, "NOT_FOUND"):
            program("params_irpa").main(*inputs)

    def test_scalars_are_converted_to_what_the_function_takes(self):
        case = CORPUS / "abi_scalars"
        inputs = [numpy.load(f).item() for f in sorted((case / "inputs").glob("*.npy"))]
        expected = [numpy.load(f).item() for f in sorted((case / "expected").glob("*.npy"))]
        self.assertEqual(list(program("abi_scalars").main(*inputs)), expected)
        with self.assertRaisesRegex(bessemer.Error, "does not fit"):
            program("abi_scalars").main(2**40, *inputs[1:])

    def test_threads(self):
        loaded = bessemer.load(MULTIPLY)
        wrong = []

        def work(x):
            a = numpy.full(4, x, numpy.float32)
            for _ in range(25):
                if not (loaded.main(a, a) == a * a).all():
                    wrong.append(x)

        threads = [threading.Thread(target=work, args=(x,)) for x in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class ErrorTest(unittest.TestCase):
    def test_errors_are_exceptions(self):
        with self.assertRaisesRegex(bessemer.Error, "cannot read /nonexistent.vmfb"):
            bessemer.load("/nonexistent.vmfb")
        with self.assertRaisesRegex(bessemer.Error, "not a compiled module"):
            bessemer.load(b"nonsense")
        with self.assertRaisesRegex(bessemer.Error, "driver 'cuda'"):
            bessemer.load(MULTIPLY, device="cuda")
        loaded = bessemer.load(MULTIPLY)
        four = numpy.ones(4, numpy.float32)
        with self.assertRaisesRegex(bessemer.Error, "main takes 2 inputs, and 1 were given"):
            loaded.main(four)
        with self.assertRaisesRegex(bessemer.Error, "input0"):
            loaded.main(numpy.ones(5, numpy.float32), four)
        with self.assertRaisesRegex(bessemer.Error, "input1"):
            loaded.main(four, numpy.ones(4, numpy.int32))
        with self.assertRaises(TypeError):
            loaded.main(four, "text")
        with self.assertRaises(TypeError):
            loaded.main(four, [1.0, 2.0])
        with self.assertRaisesRegex(AttributeError, "the program has: main"):
            loaded.other(four)

    def test_devices(self):
        self.assertTrue(bessemer.devices())
        for device, name in bessemer.devices():
            self.assertTrue(name)
            bessemer.load(MULTIPLY, device=device)


if __name__ == "__main__":
    unittest.main()
