package hazards

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A claim is one call of Shown, Held or Needs in a test.
type claim struct {
	verb string // the function called
	id   ID
	test string // the test function around it
	text string
}

// scan reads the claims of all test files below root, in the order of files
// and lines. A call that the table could not show is an error.
func scan(root string) ([]claim, error) {
	var claims []claim
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if path != root && (name == "testdata" || name[0] == '.' || name[0] == '_') {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, "_test.go") {
			return nil
		}
		found, err := scanFile(path, nil)
		claims = append(claims, found...)
		return err
	})
	return claims, err
}

// scanFile reads the claims of one file, or of text if it is not nil.
func scanFile(path string, text any) ([]claim, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var claims []claim
	var wrong error
	for _, decl := range file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(function, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			verb, ok := called(call)
			if !ok {
				return true
			}
			made, err := claimOf(verb, call)
			if err == nil && !isTest(function) {
				err = fmt.Errorf("%s is no test: say it in the test function itself", function.Name.Name)
			}
			if err != nil && wrong == nil {
				wrong = fmt.Errorf("%s: %w", files.Position(call.Pos()), err)
			}
			made.test = function.Name.Name
			claims = append(claims, made)
			return true
		})
	}
	return claims, wrong
}

// called tells which function of this package a call is of.
func called(call *ast.CallExpr) (string, bool) {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	pkg, ok := selector.X.(*ast.Ident)
	if !ok || pkg.Name != "hazards" {
		return "", false
	}
	return selector.Sel.Name, slices.Contains([]string{"Shown", "Held", "Needs"}, selector.Sel.Name)
}

func claimOf(verb string, call *ast.CallExpr) (claim, error) {
	id, ok := call.Args[1].(*ast.SelectorExpr)
	if !ok {
		return claim{}, fmt.Errorf("the hazard is to be named as hazards.H1")
	}
	text, ok := call.Args[len(call.Args)-1].(*ast.BasicLit)
	if !ok || text.Kind != token.STRING {
		return claim{}, fmt.Errorf("the last argument is to be a literal, for the table")
	}
	said, err := strconv.Unquote(text.Value)
	if err != nil {
		return claim{}, err
	}
	return claim{verb: verb, id: ID(id.Sel.Name), text: said}, nil
}

func isTest(function *ast.FuncDecl) bool {
	name := function.Name.Name
	return function.Recv == nil && (strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz"))
}
