// Loops of host arithmetic for the interpreters' race: each runs `n` times and returns what it came
// to, so that nothing of it is dead.

func.func @i32_add(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c7) -> i32 : i32 {
    %x = arith.addi %a, %i : i32
    %y = arith.xori %x, %c7 : i32
    %z = arith.subi %y, %c1 : i32
    scf.yield %z : i32
  }
  return %r : i32
}

func.func @i32_mul(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %m = arith.constant 1664525 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c1) -> i32 : i32 {
    %x = arith.muli %a, %m : i32
    %y = arith.addi %x, %i : i32
    scf.yield %y : i32
  }
  return %r : i32
}

func.func @i32_rem(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %p = arith.constant 30011 : i32
  %q = arith.constant 173 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c1) -> i32 : i32 {
    %x = arith.muli %a, %q : i32
    %y = arith.remsi %x, %p : i32
    %z = arith.addi %y, %c1 : i32
    scf.yield %z : i32
  }
  return %r : i32
}

func.func @i32_shift(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s13 = arith.constant 13 : i32
  %s17 = arith.constant 17 : i32
  %s5 = arith.constant 5 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c1) -> i32 : i32 {
    %x0 = arith.shli %a, %s13 : i32
    %x1 = arith.xori %a, %x0 : i32
    %x2 = arith.shrui %x1, %s17 : i32
    %x3 = arith.xori %x1, %x2 : i32
    %x4 = arith.shli %x3, %s5 : i32
    %x5 = arith.xori %x3, %x4 : i32
    scf.yield %x5 : i32
  }
  return %r : i32
}

func.func @i32_select(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %k = arith.constant 1000 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c1) -> i32 : i32 {
    %x = arith.addi %a, %c3 : i32
    %c = arith.cmpi slt, %x, %k : i32
    %y = arith.subi %x, %k : i32
    %z = arith.select %c, %x, %y : i32
    %m = arith.maxsi %z, %c0 : i32
    scf.yield %m : i32
  }
  return %r : i32
}

func.func @i32_rem_select(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c1) -> i32 : i32 {
    %m = arith.remsi %i, %c3 : i32
    %c = arith.cmpi eq, %m, %c0 : i32
    %x = arith.addi %a, %i : i32
    %y = arith.xori %a, %i : i32
    %z = arith.select %c, %x, %y : i32
    scf.yield %z : i32
  }
  return %r : i32
}

// A branch that goes either way: the length of a Collatz sequence, again and again.
func.func @i32_branch(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %start = arith.constant 27 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start) -> i32 : i32 {
    %odd = arith.andi %a, %c1 : i32
    %is_odd = arith.cmpi ne, %odd, %c0 : i32
    %next = scf.if %is_odd -> i32 {
      %x = arith.muli %a, %c3 : i32
      %y = arith.addi %x, %c1 : i32
      scf.yield %y : i32
    } else {
      %h = arith.shrui %a, %c1 : i32
      scf.yield %h : i32
    }
    scf.yield %next : i32
  }
  return %r : i32
}

func.func @i64_lcg(%n: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %m = arith.constant 6364136223846793005 : i64
  %k = arith.constant 1442695040888963407 : i64
  %s = arith.constant 33 : i64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c1) -> i64 : i64 {
    %x = arith.muli %a, %m : i64
    %y = arith.addi %x, %k : i64
    %t = arith.shrui %y, %s : i64
    %z = arith.xori %y, %t : i64
    scf.yield %z : i64
  }
  return %r : i64
}

func.func @f32_fma(%n: i32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant 1.0 : f32
  %a = arith.constant 0.999 : f32
  %b = arith.constant 0.5 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %one) -> f32 : i32 {
    %y = math.fma %x, %a, %b : f32
    %z = arith.mulf %y, %a : f32
    scf.yield %z : f32
  }
  return %r : f32
}

func.func @f64_newton(%n: i32) -> f64 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %two = arith.constant 2.0 : f64
  %half = arith.constant 0.5 : f64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %two) -> f64 : i32 {
    %d = arith.divf %two, %x : f64
    %s = arith.addf %x, %d : f64
    %y = arith.mulf %s, %half : f64
    scf.yield %y : f64
  }
  return %r : f64
}

util.func private @mix(%a: i32, %i: i32) -> i32 attributes {inlining_policy = #util.inline.never} {
  %x = arith.xori %a, %i : i32
  %c3 = arith.constant 3 : i32
  %y = arith.muli %x, %c3 : i32
  util.return %y : i32
}

func.func @call(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c1) -> i32 : i32 {
    %x = util.call @mix(%a, %i) : (i32, i32) -> i32
    scf.yield %x : i32
  }
  return %r : i32
}

// Which case it is follows a pattern here.
func.func @table(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c1) -> i32 : i32 {
    %k = arith.andi %i, %c3 : i32
    %kx = arith.index_cast %k : i32 to index
    %next = scf.index_switch %kx -> i32
    case 0 {
      %x = arith.addi %a, %c3 : i32
      scf.yield %x : i32
    }
    case 1 {
      %x = arith.muli %a, %c3 : i32
      scf.yield %x : i32
    }
    case 2 {
      %x = arith.xori %a, %i : i32
      scf.yield %x : i32
    }
    default {
      %x = arith.subi %a, %i : i32
      scf.yield %x : i32
    }
    scf.yield %next : i32
  }
  return %r : i32
}

// And here it does not: the time is that of the machine's mispredicted branch.
func.func @table_random(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c1) -> i32 : i32 {
    %k = arith.andi %a, %c3 : i32
    %kx = arith.index_cast %k : i32 to index
    %next = scf.index_switch %kx -> i32
    case 0 {
      %x = arith.addi %a, %c3 : i32
      scf.yield %x : i32
    }
    case 1 {
      %x = arith.muli %a, %c3 : i32
      scf.yield %x : i32
    }
    case 2 {
      %x = arith.xori %a, %i : i32
      scf.yield %x : i32
    }
    default {
      %x = arith.subi %a, %i : i32
      scf.yield %x : i32
    }
    scf.yield %next : i32
  }
  return %r : i32
}
