package highlight

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/chroma/v2"
)

// definitions are what scripts/lexers has made of chroma's, which lexers/COPYING
// is the licence of.
//
//go:embed lexers
var definitions embed.FS

//go:embed lexers/index.txt
var index string

// loaded are the languages that were used, by their names; nil for one that can't
// be.
var loaded struct {
	sync.Mutex
	by map[string]chroma.Lexer
}

// languageOf is the language of a file, by its name or, where that says nothing,
// by the interpreter that its first line names. It is nil if there is none.
func languageOf(name, first string) (chroma.Lexer, error) {
	file, known := matched(path.Base(name))
	if file == "" {
		if file = interpreted(first); file == "" {
			return nil, nil
		}
		_, known = named(file)
	}
	loaded.Lock()
	defer loaded.Unlock()
	return load(file, known)
}

// mayKnow reports whether a file's language can be known: by its name, or as a
// script, whose names have no ending.
func mayKnow(name string) bool {
	base := path.Base(name)
	file, _ := matched(base)
	return file != "" || !strings.Contains(base, ".")
}

// matched is the language that claims a file's name: one that names it whole
// before one that names its kind.
func matched(base string) (file, name string) {
	for line := range strings.Lines(index) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for _, glob := range fields[2:] {
			if glob == base {
				return fields[0], fields[1]
			}
			if file == "" {
				if ok, _ := path.Match(glob, base); ok {
					file, name = fields[0], fields[1]
				}
			}
		}
	}
	return file, name
}

// named finds a language by its file or its name, whose case is not always kept.
func named(either string) (file, name string) {
	for line := range strings.Lines(index) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if fields[0] == either || strings.EqualFold(fields[1], either) {
			return fields[0], fields[1]
		}
	}
	return "", ""
}

// interpreted is the language that a script's first line asks for.
func interpreted(first string) string {
	words := strings.Fields(strings.TrimPrefix(first, "#!"))
	if !strings.HasPrefix(first, "#!") || len(words) == 0 {
		return ""
	}
	if path.Base(words[0]) == "env" {
		words = words[1:]
	}
	for len(words) > 1 && (strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	switch name := strings.TrimRight(path.Base(words[0]), "0123456789."); name {
	case "sh", "ash", "dash", "ksh", "zsh":
		return "bash"
	case "node", "deno", "bun":
		return "javascript"
	case "pwsh":
		return "powershell"
	case "Rscript":
		return "r"
	case "bash", "fish", "python", "ruby", "perl", "lua", "php", "make", "groovy", "scala", "elixir", "julia":
		return name
	}
	return ""
}

// load reads a language's definition, and those of the languages in it, which are
// this one's own. The lock is held.
func load(file, name string) (chroma.Lexer, error) {
	if l, ok := loaded.by[file]; ok {
		return l, nil
	}
	if loaded.by == nil {
		loaded.by = map[string]chroma.Lexer{}
	}
	loaded.by[file] = nil // what fails is not tried again
	registry := chroma.NewLexerRegistry()
	l, err := register(registry, file)
	if err != nil {
		return nil, fmt.Errorf("the definition of %s: %w", name, err)
	}
	loaded.by[file] = l
	return l, nil
}

// register adds a language, and those in it that are not there, to a registry.
func register(registry *chroma.LexerRegistry, file string) (chroma.Lexer, error) {
	text, err := definition(file)
	if err != nil {
		return nil, err
	}
	lexer, err := chroma.Unmarshal(text)
	if err != nil {
		return nil, err
	}
	registry.Register(lexer)
	for _, part := range bytes.Split(text, []byte(`<using lexer="`))[1:] {
		other, _, _ := bytes.Cut(part, []byte(`"`))
		inner, name := named(string(other))
		if slices.Contains(registry.Names(false), name) {
			continue
		}
		if _, err := register(registry, inner); err != nil {
			return nil, err
		}
	}
	return lexer, nil
}

func definition(file string) ([]byte, error) {
	zipped, err := definitions.ReadFile("lexers/" + file + ".xml.gz")
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
