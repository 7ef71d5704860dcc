// The last two numbers of each kind travel from operation to operation in machine registers as well
// as in their VM registers. What uses them next takes them from there: a chain of operations then
// waits for arithmetic, not for each result's way through memory. The translator knows what is
// where and picks the form of each operation; handlers that know nothing of it hand the values on.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "vm/interpreter/cell.h"

namespace bessemer::vm::interpreter {

// What an accumulator holds. Words and pairs of words share one.
enum class Bank : uint8_t { None, Word, Wide, Single, Double };

template <class T>
constexpr Bank bankOf() {
  if constexpr (std::is_same_v<T, float>)
    return Bank::Single;
  else if constexpr (std::is_same_v<T, double>)
    return Bank::Double;
  else
    return sizeof(T) == 8 ? Bank::Wide : Bank::Word;
}

// Where an operand comes from. A form is a number whose digits, to the base of kSourceCount, are
// the sources of an operation's operands, the first one's lowest.
enum class Source : uint8_t { Register, Last, Older };
inline constexpr size_t kSourceCount = 3;
inline constexpr size_t formCount(size_t operands) {
  return operands == 0 ? 1 : kSourceCount * formCount(operands - 1);
}
inline constexpr Source sourceOf(size_t form, size_t operand) {
  return static_cast<Source>(form / formCount(operand) % kSourceCount);
}

template <class T, Source From>
T operandOf(const uint32_t* words, uint16_t index, [[maybe_unused]] uint64_t number,
            [[maybe_unused]] uint64_t older_number, [[maybe_unused]] float single_number,
            [[maybe_unused]] float older_single, [[maybe_unused]] double double_number,
            [[maybe_unused]] double older_double) {
  constexpr bool last = From == Source::Last;
  if constexpr (From == Source::Register)
    return get<T>(words, index);
  else if constexpr (bankOf<T>() == Bank::Single)
    return last ? single_number : older_single;
  else if constexpr (bankOf<T>() == Bank::Double)
    return last ? double_number : older_double;
  else
    return static_cast<T>(last ? number : older_number);
}
// Operand `index` of an operation of the form.
#define BESSEMER_VM_OPERAND(T, form, index)                                                        \
  operandOf<T, sourceOf(form, index)>(words, reg(pc, index), number, older_number, single_number,  \
                                      older_single, double_number, older_double)

// A result, to its register and its accumulator.
template <class T>
void keep(T value, uint32_t* words, uint16_t index, [[maybe_unused]] uint64_t& number,
          [[maybe_unused]] uint64_t& older_number, [[maybe_unused]] float& single_number,
          [[maybe_unused]] float& older_single, [[maybe_unused]] double& double_number,
          [[maybe_unused]] double& older_double) {
  set<T>(words, index, value);
  if constexpr (bankOf<T>() == Bank::Single)
    older_single = std::exchange(single_number, value);
  else if constexpr (bankOf<T>() == Bank::Double)
    older_double = std::exchange(double_number, value);
  else
    older_number = std::exchange(number, static_cast<std::make_unsigned_t<T>>(value));
}
#define BESSEMER_VM_KEEP(T, index, value)                                                          \
  keep<T>(value, words, reg(pc, index), number, older_number, single_number, older_single,         \
          double_number, older_double)

// An operation's handlers: one, or one for each form.
struct HandlerForms {
  Handler* plain = nullptr;        // takes all operands from registers
  Handler* const* forms = nullptr; // by form; null when there is only the plain one
  uint8_t operand_count = 0;
  Bank operands[3] = {};    // what each must be for a form that takes it from an accumulator
  Bank result = Bank::None; // what it leaves in an accumulator

  HandlerForms() = default;
  HandlerForms(Handler* plain) : plain(plain) {}
};

// All forms of an operation. `Forms::handler<Form>` is the handler of a form.
template <class Forms, class Result, class... Operands>
HandlerForms makeForms() {
  static constexpr size_t count = formCount(sizeof...(Operands));
  static constexpr auto handlers = []<size_t... Form>(std::index_sequence<Form...>) {
    return std::array<Handler*, count>{Forms::template handler<Form>...};
  }(std::make_index_sequence<count>());
  HandlerForms made(handlers[0]);
  made.forms = handlers.data();
  size_t next = 0;
  ((made.operands[next++] = bankOf<Operands>()), ...);
  made.operand_count = sizeof...(Operands);
  made.result = bankOf<Result>();
  return made;
}

// The plain form alone, for what is so slow that memory's time is nothing beside it.
template <class Forms, class Result>
HandlerForms makePlain() {
  HandlerForms made(Forms::template handler<0>);
  made.result = bankOf<Result>();
  return made;
}

// Which VM registers the accumulators' values are of, at some place of the code.
class Accumulators {
public:
  Source find(Bank bank, uint16_t reg) const {
    for (Source age : {Source::Last, Source::Older})
      if (bank != Bank::None && at(bank, age) == Slot{bank, reg})
        return age;
    return Source::Register;
  }
  // A new value; the last one is now the older one.
  void put(Bank bank, uint16_t reg) {
    overwrite(reg);
    if (isWide(bank))
      overwrite(static_cast<uint16_t>(reg + 1));
    at(bank, Source::Older) = at(bank, Source::Last);
    at(bank, Source::Last) = {bank, reg};
  }
  // A register's word has a new value.
  void overwrite(uint16_t word) {
    for (Slot& slot : slots_)
      if (slot.bank != Bank::None &&
          (slot.reg == word || (isWide(slot.bank) && slot.reg + 1 == word)))
        slot = {};
  }
  // Leaves what `filter(bank, reg)` says.
  template <class Filter>
  void keepIf(Filter filter) {
    for (Slot& slot : slots_)
      if (slot.bank != Bank::None && !filter(slot.bank, slot.reg))
        slot = {};
  }
  // Leaves what both hold in the same place.
  void intersect(const Accumulators& other) {
    for (size_t i = 0; i < std::size(slots_); ++i)
      if (slots_[i] != other.slots_[i])
        slots_[i] = {};
  }
  bool covers(const Accumulators& other) const {
    for (size_t i = 0; i < std::size(slots_); ++i)
      if (other.slots_[i].bank != Bank::None && slots_[i] != other.slots_[i])
        return false;
    return true;
  }
  bool empty() const { return Accumulators().covers(*this); }
  // Calls visit(bank, register) for values which, put one after another, come to lie as here.
  template <class Visit>
  void forEachPut(Visit visit) const {
    for (size_t kind = 0; kind < kKinds; ++kind) {
      const Slot& older = slots_[kind * 2 + 1];
      const Slot& last = slots_[kind * 2];
      if (older.bank != Bank::None)
        visit(older.bank, older.reg);
      // Something must make the older one older.
      if (const Slot& next = last.bank != Bank::None ? last : older; next.bank != Bank::None)
        visit(next.bank, next.reg);
    }
  }

private:
  struct Slot {
    Bank bank = Bank::None;
    uint16_t reg = 0;
    friend bool operator==(const Slot&, const Slot&) = default;
  };
  static constexpr size_t kKinds = 3;
  static bool isWide(Bank bank) { return bank == Bank::Wide || bank == Bank::Double; }
  static size_t indexOf(Bank bank, Source age) {
    const size_t kind = bank == Bank::Single ? 1 : bank == Bank::Double ? 2 : 0;
    return kind * 2 + (age == Source::Older);
  }
  Slot& at(Bank bank, Source age) { return slots_[indexOf(bank, age)]; }
  const Slot& at(Bank bank, Source age) const { return slots_[indexOf(bank, age)]; }
  Slot slots_[kKinds * 2]; // of each kind, the last and the older
};

} // namespace bessemer::vm::interpreter
