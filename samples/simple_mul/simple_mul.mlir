// simple_mul.vmfb: bessemer compile simple_mul.mlir
func.func @simple_mul(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %product = arith.mulf %a, %b : tensor<4xf32>
  return %product : tensor<4xf32>
}
