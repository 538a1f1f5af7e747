// Package points finds failpoints in source: the instants at which the crash harness kills
// a process. It knows Go's syntax, and nothing of the harness.
package points

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

// In finds every failpoint in the source below top: where each stands, by name. One
// that is named twice, or by anything but a literal, is an error: nobody could
// tell whether it was reached.
func In(top string) (map[string]string, error) {
	found := map[string]string{}
	set := token.NewFileSet()
	err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (strings.HasPrefix(e.Name(), ".") && path != top || e.Name() == "scripts" || e.Name() == "testdata"):
			return filepath.SkipDir
		case e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		var bad error
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isHit(call) && bad == nil {
				bad = add(found, call, set.Position(call.Pos()))
			}
			return true
		})
		return bad
	})
	if err != nil {
		return nil, fmt.Errorf("look for failpoints: %w", err)
	}
	return found, nil
}

func isHit(call *ast.CallExpr) bool {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "Hit" {
		return false
	}
	pkg, ok := s.X.(*ast.Ident)
	return ok && pkg.Name == "failpoint"
}

func add(found map[string]string, call *ast.CallExpr, at token.Position) error {
	if len(call.Args) != 1 {
		return fmt.Errorf("%s: a failpoint has one name", at)
	}
	literal, ok := call.Args[0].(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return fmt.Errorf("%s: a failpoint's name is a literal", at)
	}
	name, err := strconv.Unquote(literal.Value)
	if err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	if before, twice := found[name]; twice {
		return fmt.Errorf("%s: the failpoint %s stands at %s already", at, name, before)
	}
	found[name] = at.String()
	return nil
}
