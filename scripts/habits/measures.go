package main

import (
	"fmt"
	"go/ast"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// measures are how much a package, a type or a struct may hold: what is bigger lacks a
// wall. Test files do not count.
var measures = map[string]int{"lines": 6000, "files": 45, "methods": 45, "fields": 15}

// A ceiling is what one of them that is over the measure may hold today. It may only
// fall: habits says when it can be lowered or taken out.
type ceiling struct {
	of     string // "<directory> <measure>", or "<directory>.<Type> <measure>"
	most   int
	reason string
}

// documents are structs that only carry values from one place to another: those that are
// written as JSON, and those of these names. They have as many fields as there are
// values.
var documents = regexp.MustCompile(`([Oo]ptions|[Rr]equest|[Rr]esult)$`)

// measure counts what a file adds to its package and its types.
func (f *findings) measure(dir string, file *ast.File, lines int) {
	f.counts[dir+" lines"] += lines
	f.counts[dir+" files"]++
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil && len(d.Recv.List) == 1 {
				f.counts[dir+"."+receiver(d.Recv.List[0].Type)+" methods"]++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok {
					f.measureType(dir, spec)
				}
			}
		}
	}
}

func (f *findings) measureType(dir string, spec *ast.TypeSpec) {
	switch t := spec.Type.(type) {
	case *ast.InterfaceType:
		f.counts[dir+"."+spec.Name.Name+" methods"] += t.Methods.NumFields()
	case *ast.StructType:
		if documents.MatchString(spec.Name.Name) || hasJSON(t) {
			return
		}
		for _, field := range t.Fields.List {
			f.counts[dir+"."+spec.Name.Name+" fields"] += max(1, len(field.Names))
		}
	}
}

// overMeasure says what holds more than the measure or its ceiling, and which ceilings
// are too high.
func (f *findings) overMeasure(ceilings []ceiling) (bad []string) {
	most := map[string]int{}
	for _, c := range ceilings {
		n, measure := f.counts[c.of], measures[c.of[strings.LastIndex(c.of, " ")+1:]]
		switch {
		case n <= measure:
			bad = append(bad, fmt.Sprintf("%s: %d, which is within the measure: take its ceiling out of the table", c.of, n))
		case c.most-n > c.most/20:
			bad = append(bad, fmt.Sprintf("%s: %d: lower its ceiling of %d", c.of, n, c.most))
		}
		most[c.of] = c.most
	}
	for _, of := range slices.Sorted(maps.Keys(f.counts)) {
		what := of[strings.LastIndex(of, " ")+1:]
		allowed := max(most[of], measures[what])
		if n := f.counts[of]; n > allowed {
			bad = append(bad, fmt.Sprintf("%s: %d, over %d: look for the wall that is missing", of, n, allowed))
		}
	}
	return bad
}

// receiver is the name of the type that a method is of.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

func hasJSON(t *ast.StructType) bool {
	return slices.ContainsFunc(t.Fields.List, func(field *ast.Field) bool {
		if field.Tag == nil {
			return false
		}
		tag, err := strconv.Unquote(field.Tag.Value)
		_, is := reflect.StructTag(tag).Lookup("json")
		return err == nil && is
	})
}
