#include "metal/msl/compiler.h"

#include "metal/air/simplify.h"
#include "metal/msl/attributes.h"
#include "metal/msl/embedded.h"
#include "metal/msl/lowering.h"
#include "metal/msl/reflection.h"
#include "metal/msl/target.h"
#include "metal/msl/token_stage.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExternalASTSource.h"
#include "clang/Basic/DiagnosticOptions.h"
#include "clang/CodeGen/ModuleBuilder.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Frontend/Utils.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Parse/Parser.h"
#include "clang/Sema/Sema.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace bessemer::msl {

namespace {

constexpr char kSourceDirectory[] = "/bessemer/source/";

// Lexes everything, rewrites, parses: clang's own loop, with the token stage between.
void parse(clang::Sema& sema, Reflection* reflection) {
  clang::Preprocessor& preprocessor = sema.getPreprocessor();
  clang::ASTConsumer& consumer = sema.getASTConsumer();
  clang::IdentifierTable& identifiers = preprocessor.getIdentifierTable();
  identifiers.get("__global", clang::tok::kw___global);
  identifiers.get("__local", clang::tok::kw___local);
  identifiers.get("__constant", clang::tok::kw___constant);
  clang::Parser parser(preprocessor, sema, /*SkipFunctionBodies=*/false);
  preprocessor.EnterMainSourceFile();
  if (auto* external = sema.getASTContext().getExternalSource())
    external->StartTranslationUnit(&consumer);
  std::vector<clang::Token> tokens;
  clang::Token token;
  do {
    preprocessor.Lex(token);
    tokens.push_back(token);
  } while (token.isNot(clang::tok::eof));
  tokens = rewrite_tokens(preprocessor, std::move(tokens));
  preprocessor.EnterTokenStream(tokens, /*DisableMacroExpansion=*/true, /*IsReinject=*/false);
  parser.Initialize();
  // `1.0h`. After Initialize, since loading a precompiled header sets these options anew.
  llvm::StringMap<bool> features;
  features["cl_khr_fp16"] = true;
  sema.getOpenCLOptions().addSupport(features, sema.getLangOpts());
  sema.getOpenCLOptions().enable("cl_khr_fp16");
  clang::Parser::DeclGroupPtrTy group;
  auto import_state = clang::Sema::ModuleImportState::FirstDecl;
  for (bool end = parser.ParseFirstTopLevelDecl(group, import_state); !end;) {
    if (group && !consumer.HandleTopLevelDecl(group.get()))
      return;
    // Ends what kSourcePrologue began; as text it would be part of what an unfinished source says.
    if (reflection && parser.getCurToken().is(clang::tok::eof))
      sema.ActOnPragmaAttributePop(parser.getCurToken().getLocation(), nullptr);
    end = parser.ParseTopLevelDecl(group, import_state);
  }
  for (clang::Decl* weak : sema.WeakTopLevelDecls())
    consumer.HandleTopLevelDecl(clang::DeclGroupRef(weak));
  if (reflection && !sema.getDiagnostics().hasErrorOccurred())
    *reflection = reflect(sema);
  consumer.HandleTranslationUnit(sema.getASTContext());
}

// Writes down which files are entered. The main file and what this compiler brings are none.
class IncludeRecorder : public clang::PPCallbacks {
public:
  IncludeRecorder(const clang::SourceManager& sources, std::vector<Include>& includes)
      : sources_(sources), includes_(includes) {}

  void LexedFileChanged(clang::FileID file, LexedFileChangeReason reason,
                        clang::SrcMgr::CharacteristicKind, clang::FileID,
                        clang::SourceLocation) override {
    auto entry = sources_.getFileEntryRefForID(file);
    if (!entry)
      return;
    llvm::StringRef name = entry->getName();
    if (name.starts_with(kSourceDirectory) || name.starts_with(kHeaderDirectory))
      return;
    if (reason == LexedFileChangeReason::ExitFile)
      return;
    unsigned depth = 0;
    for (clang::FileID at = file; at.isValid(); ++depth)
      at = sources_.getFileID(sources_.getIncludeLoc(at));
    includes_.push_back({name.str(), std::max(depth, 2u) - 1});
  }

private:
  const clang::SourceManager& sources_;
  std::vector<Include>& includes_;
};

// What comes before it in the preprocessed text is not the source's.
constexpr char kPreprocessedBegin[] = "__bessemer_source_begins__";

class PreprocessAction : public clang::PreprocessorFrontendAction {
public:
  explicit PreprocessAction(const Options& options) : options_(options) {}
  std::string text;

protected:
  void ExecuteAction() override {
    clang::PreprocessorOutputOptions output;
    output.ShowCPP = true;
    output.ShowComments = output.ShowMacroComments = options_.preprocess_comments;
    output.ShowLineMarkers = options_.preprocess_lines;
    llvm::raw_string_ostream stream(text);
    clang::DoPrintPreprocessedInput(getCompilerInstance().getPreprocessor(), &stream, output);
    size_t begin = text.find(kPreprocessedBegin);
    if (begin != std::string::npos)
      text.erase(0, std::min(text.size(), begin + sizeof(kPreprocessedBegin)));
  }

private:
  const Options& options_;
};

// Source to LLVM IR, and no further: clang's own actions of that kind go on to its back end, which
// has another opinion of the data layout.
class EmitAction : public clang::ASTFrontendAction {
public:
  explicit EmitAction(llvm::LLVMContext& context) : context_(context) {}

  Reflection reflection;
  std::unique_ptr<llvm::Module> module;

protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance,
                                                        llvm::StringRef file) override {
    auto generator = clang::CreateLLVMCodeGen(instance, file, context_);
    generator_ = generator.get();
    return generator;
  }

  void ExecuteAction() override {
    clang::CompilerInstance& instance = getCompilerInstance();
    if (!instance.hasSema())
      instance.createSema(getTranslationUnitKind(), nullptr);
    parse(instance.getSema(), &reflection);
    if (!instance.getDiagnostics().hasErrorOccurred())
      module = generator_->ReleaseModule();
  }

private:
  llvm::LLVMContext& context_;
  clang::CodeGenerator* generator_ = nullptr;
};

class PrecompileAction : public clang::GeneratePCHAction {
protected:
  void ExecuteAction() override {
    clang::CompilerInstance& instance = getCompilerInstance();
    if (!instance.hasSema())
      instance.createSema(getTranslationUnitKind(), nullptr);
    parse(instance.getSema(), nullptr);
  }
};

void set_language(clang::LangOptions& language, MathMode math) {
  language.Half = 1;
  language.NativeHalfType = 1;
  language.NativeHalfArgsAndReturns = 1;
  language.SinglePrecisionConstants = 1;
  language.DeclSpecKeyword = 1; // __declspec(property), for swizzles
  language.ThreadsafeStatics = 0;
  language.CXXExceptions = language.Exceptions = 0;
  language.RTTI = 0;
  language.MathErrno = 0;
  language.NoBuiltin = 1;
  language.Freestanding = 1;
  language.CXXOperatorNames = 1;
  // What the headers use of templates is made with them, and not again for every source.
  language.PCHInstantiateTemplates = 1;
  language.setDefaultFPContractMode(math == MathMode::Safe ? clang::LangOptions::FPM_On
                                                           : clang::LangOptions::FPM_Fast);
  // Kernels use INFINITY and isnan, so NaN and infinity stay honoured in every mode. FastMath
  // itself stays off: a precompiled header is not taken by a mode that differs in it.
  bool relaxed = math != MathMode::Safe;
  language.AllowFPReassoc = relaxed;
  language.NoSignedZero = relaxed;
  language.AllowRecip = relaxed;
  language.ApproxFunc = relaxed;
}

std::vector<std::string> command_line(const Options& options, llvm::StringRef main_file) {
  std::vector<std::string> arguments = {
      "-triple", kBaseTriple, "-x", "c++", "-std=c++17", "-nostdsysteminc", "-nobuiltininc",
      "-fno-validate-pch", "-ftemplate-depth=1024", "-ferror-limit", "20",
      "-fno-strict-float-cast-overflow",
      // The token stage writes code that these do not fit.
      "-Wno-unknown-attributes", "-Wno-ignored-attributes", "-Wno-gcc-compat", "-Wno-parentheses",
      "-Wno-unused-value", "-Wno-duplicate-decl-specifier", "-Wno-undefined-internal",
      "-Wno-undefined-inline", "-Wno-return-type-c-linkage", "-Wno-user-defined-literals",
      "-Wno-reserved-user-defined-literal", "-Wno-c++20-extensions", "-Wno-c++17-extensions",
      "-Wno-invalid-offsetof", "-Wno-c99-extensions", "-Wno-vla-cxx-extension",
      "-Wno-pragma-clang-attribute", "-isystem", kHeaderDirectory};
  if (!options.warnings)
    arguments.push_back("-w");
  if (options.warnings_are_errors)
    arguments.push_back("-Werror");
  if (!options.quote_directory.empty())
    arguments.insert(arguments.end(), {"-iquote", options.quote_directory});
  for (const std::string& directory : options.include_directories) {
    arguments.push_back("-I");
    arguments.push_back(directory);
  }
  arguments.push_back(main_file.str());
  return arguments;
}

// Headers and their precompiled form: the same for all, and costly to add, since the contents are
// hashed. Only read once made, so threads may share it.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> library_files() {
  static const llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> files = [] {
    auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
    for (const EmbeddedFile& header : embedded_headers()) {
      std::string path = std::string(kHeaderDirectory) + "/" + header.name.str();
      memory->addFileNoOwn(path, 0, llvm::MemoryBufferRef(header.text, path));
    }
    if (!embedded_pch().empty())
      memory->addFileNoOwn(kPchPath, 0, llvm::MemoryBufferRef(embedded_pch(), kPchPath));
    return memory;
  }();
  return files;
}

// A client's source, which has no folder, includes nothing of the machine's.
bool reads_files(const Options& options) {
  return !options.include_directories.empty() || !options.quote_directory.empty();
}

llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
file_system(const Options& options, llvm::StringRef main_file, const std::string& text) {
  auto overlay = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
      reads_files(options) ? llvm::vfs::getRealFileSystem() : library_files());
  if (reads_files(options))
    overlay->pushOverlay(library_files());
  auto source = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  source->addFile(main_file, 0, llvm::MemoryBuffer::getMemBufferCopy(text, main_file));
  overlay->pushOverlay(std::move(source));
  return overlay;
}

// Macros are written into the source, not on the command line: so one precompiled header serves
// all. The `#line`-like marker brings the user's own line numbers back.
std::string wrap_source(llvm::StringRef source, const Options& options) {
  uint32_t version = options.language_version ? options.language_version : kNewestLanguage;
  unsigned number = (version >> 16) * 100 + (version & 0xffff) * 10;
  std::string text;
  text.reserve(source.size() + 512);
  // The prologue is for the parser.
  if (!options.preprocess)
    text += kSourcePrologue;
  text += "#undef __METAL_VERSION__\n#define __METAL_VERSION__ " + std::to_string(number) + "\n";
  if (number < 310)
    text += "#undef __HAVE_BFLOAT__\n";
  if (options.math_mode != MathMode::Fast)
    text += "#undef __FAST_MATH__\n";
  for (const Macro& macro : options.macros)
    text += "#undef " + macro.name.substr(0, macro.name.find('(')) + "\n#define " + macro.name +
            " " + macro.value + "\n";
  if (options.preprocess)
    text += std::string(kPreprocessedBegin) + "\n";
  text += "# 1 \"" + options.file_name + "\"\n";
  text += source;
  text += '\n';
  return text;
}

struct Run {
  bool failed = true;
  Reflection reflection;
  std::unique_ptr<llvm::Module> module;
  std::vector<Include> includes;
  std::string preprocessed;
};

// One run of clang. `context` null: makes the precompiled header at `pch_path`.
Run run_clang(const std::string& text, llvm::StringRef main_file, const Options& options,
              llvm::LLVMContext* context, llvm::StringRef pch_path, std::string& diagnostics) {
  register_attributes();
  std::vector<std::string> arguments = command_line(options, main_file);
  if (!context) {
    arguments.insert(arguments.end() - 1, {"-o", pch_path.str(), "-emit-pch"});
  } else if (!embedded_pch().empty()) {
    arguments.insert(arguments.end() - 1, {"-include-pch", kPchPath});
  }
  std::vector<const char*> pointers;
  for (const std::string& argument : arguments)
    pointers.push_back(argument.c_str());

  Run result;
  llvm::raw_string_ostream stream(diagnostics);
  clang::DiagnosticOptions diagnostic_options;
  diagnostic_options.ShowPresumedLoc = true; // the user's file and line, not those of the wrapping
  auto files = file_system(options, main_file, text);
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  {
    auto engine = clang::CompilerInstance::createDiagnostics(
        *files, diagnostic_options, new clang::TextDiagnosticPrinter(stream, diagnostic_options));
    if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers, *engine))
      return result;
  }
  set_language(invocation->getLangOpts(), options.math_mode);
  clang::CodeGenOptions& code = invocation->getCodeGenOpts();
  // Above 0 clang writes what optimisers need (lifetimes, no optnone); the passes are run here.
  code.OptimizationLevel = 2;
  code.DisableLLVMPasses = 1;
  code.UnrollLoops = 1;             // else every loop says that it must not be unrolled
  code.StrictFloatCastOverflow = 0; // float to integer saturates
  code.setInlining(clang::CodeGenOptions::NormalInlining);
  code.setFiniteLoops(clang::CodeGenOptions::FiniteLoopsKind::Always);
  code.EmitLLVMUseLists = 0;
  if (options.line_tables)
    code.setDebugInfo(llvm::codegenoptions::DebugLineTablesOnly);

  clang::CompilerInstance instance(invocation);
  instance.setVirtualFileSystem(files);
  instance.createDiagnostics(new clang::TextDiagnosticPrinter(stream, diagnostic_options));
  instance.setVerboseOutputStream(llvm::nulls());
  llvm::IntrusiveRefCntPtr<clang::TargetInfo> base(clang::TargetInfo::CreateTargetInfo(
      instance.getDiagnostics(), instance.getInvocation().getTargetOpts()));
  if (!base)
    return result;
  instance.setTarget(new MslTarget(*base));
  instance.getTarget().adjust(instance.getDiagnostics(), instance.getLangOpts(), nullptr);

  auto execute = [&](clang::FrontendAction& action) {
    if (!action.BeginSourceFile(instance, instance.getFrontendOpts().Inputs[0]))
      return;
    instance.getPreprocessor().addPPCallbacks(
        std::make_unique<IncludeRecorder>(instance.getSourceManager(), result.includes));
    if (llvm::Error failure = action.Execute())
      stream << llvm::toString(std::move(failure)) << '\n';
    action.EndSourceFile();
    result.failed = instance.getDiagnostics().hasErrorOccurred();
  };
  if (options.preprocess) {
    PreprocessAction action(options);
    execute(action);
    result.preprocessed = std::move(action.text);
  } else if (context) {
    EmitAction action(*context);
    execute(action);
    result.reflection = std::move(action.reflection);
    result.module = std::move(action.module);
  } else {
    PrecompileAction action;
    execute(action);
  }
  return result;
}

} // namespace

Compilation compile(llvm::StringRef source, const Options& options, llvm::LLVMContext& context) {
  air::StageClock clock;
  Compilation compilation;
  std::string text;
  if (embedded_pch().empty())
    text = "#include <metal_stdlib>\n";
  text += wrap_source(source, options);
  std::string main_file = std::string(kSourceDirectory) + "source.metal";
  Run run = run_clang(text, main_file, options, &context, {}, compilation.diagnostics);
  compilation.includes = std::move(run.includes);
  if (!run.failed)
    compilation.preprocessed = std::move(run.preprocessed);
  if (run.failed || !run.module)
    return compilation;
  clock.stage("parse");
  if (llvm::Error error = lower(*run.module, run.reflection, options)) {
    compilation.diagnostics +=
        options.file_name + ": error: " + llvm::toString(std::move(error)) + "\n";
    return compilation;
  }
  clock.stage("lower");
  if (options.simplify) {
    air::simplify(*run.module);
    clock.stage("simplify");
  }
  compilation.stages = clock.take();
  compilation.module = std::move(run.module);
  return compilation;
}

bool precompile_stdlib(llvm::StringRef path, std::string& diagnostics) {
  Options options;
  std::string main_file = std::string(kHeaderDirectory) + "/metal_stdlib";
  // The umbrella header is the main file, with its own text.
  std::string text;
  for (const EmbeddedFile& header : embedded_headers())
    if (header.name == "metal_stdlib")
      text = header.text;
  Run run = run_clang(text, main_file, options, nullptr, path, diagnostics);
  return !run.failed;
}

} // namespace bessemer::msl
