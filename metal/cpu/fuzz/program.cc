#include "metal/cpu/fuzz/program.h"

#include <algorithm>
#include <cctype>

namespace bessemer::metal::cpu::fuzz {
namespace {

std::string print(const Block& block, unsigned indent);

// `form` with its places filled; blocks are set in by two more than `indent`.
std::string fill(const std::string& form, const std::vector<Expression>& expressions,
                 const std::vector<Block>* blocks, unsigned indent) {
  std::string result;
  for (size_t i = 0; i < form.size(); ++i) {
    const bool place = i + 1 < form.size() && std::isdigit(static_cast<unsigned char>(form[i + 1]));
    const auto index = place ? static_cast<size_t>(form[i + 1] - '0') : 0;
    if (form[i] == '$' && place) {
      result += expressions.at(index).text();
      ++i;
    } else if (form[i] == '#' && place && blocks) {
      result += "\n" + print(blocks->at(index), indent + 2) + std::string(indent, ' ');
      ++i;
    } else {
      result += form[i];
      if (form[i] == '\n')
        result += std::string(indent, ' ');
    }
  }
  return result;
}

std::string print(const Block& block, unsigned indent) {
  std::string text;
  for (const Statement& statement : block)
    text += std::string(indent, ' ') +
            fill(statement.form, statement.expressions, &statement.blocks, indent) + "\n";
  return text;
}

template <class Visit>
void visit(Block& block, Visit&& each) {
  each(block);
  for (Statement& statement : block)
    for (Block& inner : statement.blocks)
      visit(inner, each);
}

template <class Visit>
void visit_blocks(Program& program, Visit&& each) {
  visit(program.functions, each);
  visit(program.body, each);
}

template <class Visit>
void visit(Expression& expression, Visit&& each) {
  each(expression);
  for (Expression& operand : expression.operands)
    visit(operand, each);
}

template <class Visit>
void visit_expressions(Program& program, Visit&& each) {
  visit_blocks(program, [&](Block& block) {
    for (Statement& statement : block)
      for (Expression& expression : statement.expressions)
        visit(expression, each);
  });
}

bool leaves(const Block& block) {
  const std::string text = print(block, 0);
  return text.find("break;") != text.npos || text.find("continue;") != text.npos;
}

class Reducer {
public:
  Reducer(Program program, const std::function<bool(const Program&)>& fails, size_t attempts)
      : best_(std::move(program)), fails_(fails), left_(attempts) {}

  Program run() {
    for (bool smaller = true; smaller && left_ > 0;) {
      smaller = remove_statements();
      smaller |= dissolve_statements();
      smaller |= simplify_expressions();
    }
    return std::move(best_);
  }

private:
  bool try_this(Program candidate) {
    if (left_ == 0)
      return false;
    --left_;
    if (!fails_(candidate))
      return false;
    best_ = std::move(candidate);
    return true;
  }

  // Runs of statements first, then single ones.
  bool remove_statements() {
    bool any = false;
    for (size_t at = 0;; ++at) {
      size_t size = 0, count = 0;
      visit_blocks(best_, [&](Block& block) {
        if (count++ == at)
          size = block.size();
      });
      if (at >= count)
        return any;
      for (size_t run = std::max<size_t>(size, 1); run > 0; run /= 2)
        for (size_t first = 0; first < size;) {
          Program candidate = best_;
          size_t index = 0;
          Block* block = nullptr;
          visit_blocks(candidate, [&](Block& other) {
            if (index++ == at)
              block = &other;
          });
          const size_t last = std::min(first + run, size);
          block->erase(block->begin() + static_cast<ptrdiff_t>(first),
                       block->begin() + static_cast<ptrdiff_t>(last));
          if (try_this(std::move(candidate)))
            size -= last - first, any = true;
          else
            first = last;
        }
    }
  }

  bool dissolve_statements() {
    bool any = false;
    for (size_t wanted = 0; left_ > 0; ++wanted) {
      size_t index = 0, choices = 0;
      // Each block of each statement that may dissolve is one choice.
      auto apply = [&](Program& program, bool change) {
        index = choices = 0;
        bool done = false;
        visit_blocks(program, [&](Block& block) {
          for (size_t s = 0; s < block.size() && !done; ++s) {
            if (!block[s].may_dissolve)
              continue;
            for (size_t b = 0; b < block[s].blocks.size() && !done; ++b) {
              if (leaves(block[s].blocks[b]) && !block[s].form.starts_with("if"))
                continue;
              ++choices;
              if (index++ != wanted || !change)
                continue;
              Block inner = block[s].blocks[b];
              // In braces, since names may be declared twice.
              Statement braces{"{#0}", {}, {std::move(inner)}, true};
              block[s] = std::move(braces);
              done = true;
            }
          }
        });
        return done;
      };
      Program candidate = best_;
      if (!apply(candidate, true))
        return any;
      if (candidate.text().size() < best_.text().size() && try_this(std::move(candidate)))
        any = true, --wanted;
    }
    return any;
  }

  bool simplify_expressions() {
    bool any = false;
    for (size_t wanted = 0; left_ > 0; ++wanted) {
      size_t count = 0;
      std::vector<Expression> choices;
      visit_expressions(best_, [&](Expression& expression) {
        if (count++ != wanted)
          return;
        for (const Expression& operand : expression.operands)
          if (operand.type == expression.type)
            choices.push_back(operand);
        if (!expression.operands.empty() && !expression.type.empty())
          choices.push_back({expression.type + "(1)", expression.type, {}});
      });
      if (wanted >= count)
        return any;
      for (Expression& choice : choices) {
        Program candidate = best_;
        size_t index = 0;
        bool done = false;
        visit_expressions(candidate, [&](Expression& expression) {
          if (index++ == wanted && !done) {
            done = true;
            Expression replacement = choice;
            expression = std::move(replacement);
          }
        });
        if (try_this(std::move(candidate))) {
          any = true;
          --wanted;
          break;
        }
      }
    }
    return any;
  }

  Program best_;
  const std::function<bool(const Program&)>& fails_;
  size_t left_;
};

} // namespace

std::string Expression::text() const { return fill(form, operands, nullptr, 0); }

std::string Program::text() const {
  return prelude + print(functions, 0) + head + print(body, 2) + "}\n";
}

Program reduce(const Program& program, const std::function<bool(const Program&)>& fails,
               size_t attempts) {
  return Reducer(program, fails, attempts).run();
}

} // namespace bessemer::metal::cpu::fuzz
