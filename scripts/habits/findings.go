package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// maxLines is where a file is too long: look for the noun that is missing.
const maxLines = 500

// maxFunc is where a function is too long; tables in tests are let be.
const maxFunc = 80

// notes are what a reader must not find in what has landed.
var notes = regexp.MustCompile(`\b(TODO|FIXME|XXX|HACK)\b|[Nn]ot implemented`)

// findings gathers what is wrong over all files.
type findings struct {
	set      *token.FileSet
	bad      []string
	comments map[string][]string // directory and package name -> files with a package comment
	counts   map[string]int      // what each package and type holds, by the name that a ceiling has
}

func newFindings() *findings {
	return &findings{set: token.NewFileSet(), comments: map[string][]string{}, counts: map[string]int{}}
}

// file adds what is wrong with one file.
func (f *findings) file(path string, text []byte) error {
	file, err := parser.ParseFile(f.set, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	test := strings.HasSuffix(path, "_test.go")
	if n := bytes.Count(text, []byte("\n")); n > maxLines && !generated(file) {
		f.bad = append(f.bad, fmt.Sprintf("%s: %d lines, over %d: look for the noun that is missing", path, n, maxLines))
	}
	if !test {
		key := filepath.Dir(path) + " " + file.Name.Name
		if _, ok := f.comments[key]; !ok {
			f.comments[key] = nil
		}
		if file.Doc != nil && !directive(file.Doc) {
			f.comments[key] = append(f.comments[key], path)
		}
		f.measure(filepath.ToSlash(filepath.Dir(path)), file, bytes.Count(text, []byte("\n")))
	}
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if found := notes.FindString(comment.Text); found != "" {
				f.add(comment.Pos(), "%q in a comment: do it, or leave it to an issue", found)
			}
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		f.node(node, file.Name.Name, test)
		return true
	})
	return nil
}

func (f *findings) node(node ast.Node, pkg string, test bool) {
	switch n := node.(type) {
	case *ast.FuncDecl:
		if n.Name.Name == "init" && n.Recv == nil {
			f.add(n.Pos(), "init: no package does work at start-up")
		}
		lines := f.set.Position(n.End()).Line - f.set.Position(n.Pos()).Line
		if !test && lines > maxFunc {
			f.add(n.Pos(), "%s has %d lines, over %d", n.Name.Name, lines, maxFunc)
		}
	case *ast.CallExpr:
		if test || pkg == "main" {
			return
		}
		switch callee(n) {
		case "os.Exit", "log.Fatal", "log.Fatalf", "syscall.Exit":
			f.add(n.Pos(), "%s outside main: return an error, so that deferred calls run", callee(n))
		case "panic":
			f.add(n.Pos(), "panic: return an error")
		}
	}
}

func (f *findings) add(pos token.Pos, format string, args ...any) {
	at := f.set.Position(pos)
	f.bad = append(f.bad, fmt.Sprintf("%s:%d: ", at.Filename, at.Line)+fmt.Sprintf(format, args...))
}

// lines returns everything found, sorted.
func (f *findings) lines() []string {
	for key, files := range f.comments {
		dir, _, _ := strings.Cut(key, " ")
		switch {
		case len(files) == 0:
			f.bad = append(f.bad, dir+": no package comment: say what the package owns and what it must not do")
		case len(files) > 1:
			sort.Strings(files)
			f.bad = append(f.bad, dir+": more than one package comment: "+strings.Join(files, ", "))
		}
	}
	sort.Strings(f.bad)
	return f.bad
}

// directive tells a comment that holds nothing but tool directives.
func directive(doc *ast.CommentGroup) bool { return strings.TrimSpace(doc.Text()) == "" }

func generated(file *ast.File) bool { return ast.IsGenerated(file) }

func callee(call *ast.CallExpr) string {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		if pkg, ok := fun.X.(*ast.Ident); ok {
			return pkg.Name + "." + fun.Sel.Name
		}
	}
	return ""
}
