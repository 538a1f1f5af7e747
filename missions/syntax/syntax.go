// Package syntax says whether a text is whole by the rules of its language, as far as the
// standard library knows these. It must not judge what a text means.
package syntax

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"path"
	"strings"
)

// Problem is why a text does not parse in the language of its file's name: "Go: line 3:
// expected ';'". It is "" for a text that does, and for one in a language that is not known.
// A name that Go declares twice in a file, or JSON in an object, is a problem too: merges make
// such texts.
func Problem(name string, text []byte) string {
	switch strings.ToLower(path.Ext(name)) {
	case ".go":
		return goProblem(text)
	case ".json":
		return jsonProblem(text)
	}
	return ""
}

// Known reports whether texts of a file's name can be judged.
func Known(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".go" || ext == ".json"
}

func goProblem(text []byte) string {
	_, err := parser.ParseFile(token.NewFileSet(), "", text, parser.DeclarationErrors)
	if err == nil {
		return ""
	}
	if list, ok := errors.AsType[scanner.ErrorList](err); ok && len(list) > 0 {
		message, _, _ := strings.Cut(list[0].Msg, "\n")
		return fmt.Sprintf("Go: line %d: %s", list[0].Pos.Line, message)
	}
	return "Go: " + err.Error()
}

func jsonProblem(text []byte) string {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	twice, err := readValue(d, 0)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			err = nil
		} else if err == nil {
			err = errors.New("more than one value")
		}
	}
	line := 1 + bytes.Count(text[:min(int(d.InputOffset()), len(text))], []byte("\n"))
	switch {
	case errors.Is(err, io.EOF):
		return "JSON: it ends too early"
	case err != nil:
		return fmt.Sprintf("JSON: line %d: %v", line, err)
	case twice != "":
		return fmt.Sprintf("JSON: %q is there twice in one object", twice)
	}
	return ""
}

// deepest is how deep JSON may be nested, as for encoding/json: a stack that overflows ends
// the whole program.
const deepest = 10_000

// readValue reads a value at a depth, and names a key that an object in it has twice.
func readValue(d *json.Decoder, depth int) (twice string, err error) {
	if depth > deepest {
		return "", errors.New("it is nested too deep")
	}
	first, err := d.Token()
	if err != nil {
		return "", err
	}
	begin, ok := first.(json.Delim)
	if !ok {
		return "", nil
	}
	keys := map[string]bool{}
	for d.More() {
		if begin == '{' {
			key, err := d.Token()
			if err != nil {
				return "", err
			}
			text, _ := key.(string)
			if keys[text] && twice == "" {
				twice = text
			}
			keys[text] = true
		}
		below, err := readValue(d, depth+1)
		if err != nil {
			return "", err
		}
		if twice == "" {
			twice = below
		}
	}
	_, err = d.Token()
	return twice, err
}
