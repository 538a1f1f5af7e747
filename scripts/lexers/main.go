//go:build ignore

// Command lexers makes commands/highlight/lexers: definitions of languages from
// those that chroma links (github.com/alecthomas/chroma/v2/lexers), each as
// compressed XML, and an index of file names. Umbra links none of chroma's own:
// they are registered at every start, which costs more than all the rest of one.
//
//	go run scripts/lexers/main.go [-out DIR]
package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// A language is one that is taken over: the file it goes to, chroma's name for it,
// and the names of files that chroma does not know it by. Of two languages that
// claim a name the first has it.
type language struct {
	file, name string
	globs      []string
}

// Left out are languages that chroma has only as code that calls others: Svelte,
// reStructuredText, Go's HTML templates.
var languages = []language{
	{"bash", "Bash", []string{".profile", ".bash_profile", "*.bats", ".envrc"}},
	{"batch", "Batchfile", nil},
	{"c", "C", nil},
	{"clojure", "Clojure", nil},
	{"cmake", "CMake", nil},
	{"cpp", "C++", []string{"*.cppm", "*.ixx", "*.inl"}},
	{"csharp", "C#", nil},
	{"css", "CSS", nil},
	{"dart", "Dart", nil},
	{"diff", "Diff", nil},
	{"docker", "Docker", []string{"Dockerfile.*", "Containerfile"}},
	{"elixir", "Elixir", nil},
	{"erlang", "Erlang", nil},
	{"fish", "Fish", nil},
	{"fsharp", "FSharp", nil},
	{"go", "Go", nil},
	{"graphql", "GraphQL", nil},
	{"groovy", "Groovy", []string{"Jenkinsfile"}},
	{"haskell", "Haskell", nil},
	{"hcl", "HCL", nil},
	{"html", "HTML", nil},
	{"ini", "INI", []string{".gitconfig", "*.service", "*.socket", "*.timer"}},
	{"java", "Java", nil},
	{"javascript", "JavaScript", []string{"*.cjs"}},
	{"json", "JSON", []string{"*.jsonl", "*.ndjson", "*.webmanifest", "*.json5", "composer.lock", "Pipfile.lock"}},
	{"julia", "Julia", nil},
	{"kotlin", "Kotlin", nil},
	{"lua", "Lua", nil},
	{"make", "Makefile", nil},
	{"markdown", "markdown", []string{"*.mdx"}},
	{"nix", "Nix", nil},
	{"objc", "Objective-C", nil},
	{"ocaml", "OCaml", nil},
	{"perl", "Perl", nil},
	{"php", "PHP", []string{"*.php", "*.phtml"}},
	{"powershell", "PowerShell", nil},
	{"protobuf", "Protocol Buffer", nil},
	{"python", "Python", nil},
	{"r", "R", nil},
	{"ruby", "Ruby", []string{"Brewfile", "Podfile", "*.podspec"}},
	{"rust", "Rust", nil},
	{"scala", "Scala", nil},
	{"scss", "SCSS", nil},
	{"sql", "SQL", nil},
	{"swift", "Swift", nil},
	{"terraform", "Terraform", nil},
	{"tex", "TeX", nil},
	{"toml", "TOML", []string{"Cargo.lock", "poetry.lock", "uv.lock"}},
	{"typescript", "TypeScript", nil},
	{"jsx", "react", nil},
	{"vim", "VimL", nil},
	{"vue", "vue", nil},
	{"xml", "XML", []string{"*.plist", "*.csproj"}},
	{"yaml", "YAML", []string{".clang-format", ".clang-tidy"}},
	{"zig", "Zig", nil},
}

// others are names that chroma takes for these languages, and most people do not.
var others = []string{"*.S", "*.build", "*.image", "*.network", "*.container", "*.volume", "*.load", "*.es", "*.sc", "*.toc"}

func main() {
	out := flag.String("out", filepath.Join("commands", "highlight", "lexers"), "write them to `DIR`")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "lexers:", err)
		os.Exit(1)
	}
}

// run writes the definitions, and the index: a line for each with its file, its
// name and the names of files, between tabs.
func run(out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var index bytes.Buffer
	taken, names := map[string]bool{}, map[string]bool{}
	for _, l := range languages {
		names[strings.ToLower(l.name)] = true
	}
	for _, l := range languages {
		text, globs, err := definition(l)
		if err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		for _, m := range regexp.MustCompile(`<using lexer="([^"]+)"`).FindAllSubmatch(text, -1) {
			if !names[strings.ToLower(string(m[1]))] {
				return fmt.Errorf("%s uses %s, which is not among them", l.name, m[1])
			}
		}
		var free []string
		for _, g := range globs {
			if !taken[g] && !slices.Contains(others, g) {
				taken[g], free = true, append(free, g)
			}
		}
		fmt.Fprintf(&index, "%s\t%s\t%s\n", l.file, l.name, strings.Join(free, "\t"))
		if err := os.WriteFile(filepath.Join(out, l.file+".xml.gz"), zipped(text), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(out, "index.txt"), index.Bytes(), 0o644)
}

func zipped(text []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, err := w.Write(text)
	if err := errors.Join(err, w.Close()); err != nil {
		panic(err) // a buffer takes all
	}
	return b.Bytes()
}

// definition is a language as XML, and the names of its files.
func definition(l language) (text []byte, globs []string, err error) {
	found := lexers.Get(l.name)
	if found == nil || found.Config().Name != l.name {
		return nil, nil, errors.New("chroma has no such language")
	}
	lexer, ok := found.(*chroma.RegexLexer)
	if !ok { // one that wraps another
		inner := reflect.ValueOf(found).Elem().FieldByName("Lexer")
		if !inner.IsValid() {
			return nil, nil, fmt.Errorf("%T is code", found)
		}
		lexer = inner.Interface().(*chroma.RegexLexer)
	}
	rules, err := lexer.Rules()
	if err != nil {
		return nil, nil, err
	}
	globs = append(slices.Clone(lexer.Config().Filenames), l.globs...)
	config := *lexer.Config()
	config.Filenames, config.AliasFilenames, config.MimeTypes, config.Analyse = nil, nil, nil, nil
	mended, err := chroma.NewLexer(&config, func() chroma.Rules { return mend(l.name, rules.Clone()) })
	if err != nil {
		return nil, nil, err
	}
	text, err = chroma.Marshal(mended)
	return sorted(text), globs, err
}

// mend replaces what can't be marshalled, or is not as it is wanted here.
func mend(name string, rules chroma.Rules) chroma.Rules {
	for _, list := range rules { // a script's first line is a comment
		for i, r := range list {
			if strings.HasPrefix(strings.TrimPrefix(r.Pattern, `\A`), "#!") && r.Type == chroma.CommentPreproc {
				list[i].Type = chroma.CommentHashbang
			}
		}
	}
	switch name {
	case "Go": // raw strings are templates there
		for i, r := range rules["root"] {
			switch {
			case strings.HasPrefix(r.Pattern, "(`)"):
				rules["root"][i].Type, rules["root"][i].Pattern = chroma.LiteralString, "`[^`]*`"
			case strings.HasPrefix(r.Pattern, `//[^\s`):
				rules["root"][i].Type = chroma.CommentSingle
			case strings.HasPrefix(r.Pattern, `([a-zA-Z_]\w*)(\s*)(\()`):
				rules["root"][i].Type = chroma.ByGroups(chroma.NameFunction, chroma.TextWhitespace, chroma.Punctuation)
			}
		}
	case "markdown": // the languages of its fences stay as they are written
		for i, r := range rules["root"] {
			if strings.HasPrefix(r.Pattern, "^(```)(\\w+)") {
				rules["root"][i].Type = chroma.ByGroups(chroma.String, chroma.String, chroma.String, chroma.Text, chroma.String)
			}
		}
	case "PHP": // it is between tags, in text that is anything
		rules = rules.Rename("root", "php").Merge(chroma.Rules{"root": {
			{Pattern: `<\?(php|=)?`, Type: chroma.CommentPreproc, Mutator: chroma.Push("php")},
			{Pattern: `[^<]+`, Type: chroma.Other},
			{Pattern: `<`, Type: chroma.Other},
		}})
	}
	return rules
}

var state = regexp.MustCompile(`(?s) *<state name="[^"]*"(/>|>.*?</state>)\n`)

// sorted puts the states, which come in another order each time, in one.
func sorted(text []byte) []byte {
	places := state.FindAllIndex(text, -1)
	if len(places) == 0 {
		return text
	}
	states := state.FindAll(slices.Clone(text), -1)
	slices.SortFunc(states, bytes.Compare)
	return slices.Concat(text[:places[0][0]], bytes.Join(states, nil), text[places[len(places)-1][1]:])
}
