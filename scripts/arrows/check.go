package main

import (
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"
)

// A pkg is what `go list -json` says of a package, as far as arrows go.
type pkg struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// violations returns one line for each import that the tables do not allow,
// sorted and without duplicates.
func violations(pkgs []pkg) []string {
	seen := map[string]bool{}
	for _, p := range pkgs {
		from := below(p.ImportPath)
		if !known(from) {
			seen[fmt.Sprintf("%s: the design has no such package: put its code where it belongs, or add its row and the reason to scripts/arrows/table.go", from)] = true
			continue
		}
		for _, imp := range p.Imports {
			if why := forbidden(from, imp, false); why != "" {
				seen[why] = true
			}
		}
		for _, imp := range append(slices.Clone(p.TestImports), p.XTestImports...) {
			if why := forbidden(from, imp, true); why != "" {
				seen[why] = true
			}
		}
	}
	lines := make([]string, 0, len(seen))
	for line := range seen {
		lines = append(lines, line)
	}
	sort.Strings(lines)
	return lines
}

// forbidden says why the package from may not import imp, or nothing if it
// may. test tells that a test file imports it.
func forbidden(from, imp string, test bool) string {
	switch {
	case imp == module || strings.HasPrefix(imp, module+"/"):
		return crossed(from, below(imp), test)
	case standard(imp), under(imp, anywhere...):
		return ""
	case under(imp, testOnly...):
		if test || under(from, "scripts") {
			return ""
		}
		return fmt.Sprintf("%s imports %s outside a test file: it is a test-only package", from, imp)
	}
	for _, p := range parties {
		if !under(imp, p.path) {
			continue
		}
		if from == p.by {
			return ""
		}
		return fmt.Sprintf("%s imports %s: %s is its only importing package; ask that package for what is needed", from, imp, p.by)
	}
	return fmt.Sprintf("%s imports %s: each third-party package has one importing package; name it in scripts/arrows/table.go", from, imp)
}

// crossed says why the arrow from → to is none of the design's.
func crossed(from, to string, test bool) string {
	if test && (to == from || under(to, "scripts")) {
		return ""
	}
	if test && slices.Contains(suites, to) && under(from, path.Dir(to)) {
		return ""
	}
	if test && slices.Contains(together, arrow{from, to}) {
		return ""
	}
	if under(from, "scripts") {
		if under(to, "scripts") {
			return ""
		}
		return fmt.Sprintf("%s imports %s: what is in scripts drives umbra from outside, by its command line", from, to)
	}
	if under(to, "scripts") {
		return fmt.Sprintf("%s imports %s outside a test file: scripts is no part of the program", from, to)
	}
	for _, r := range rules {
		if r.pkg != from {
			continue
		}
		if slices.Contains(r.may, to) {
			return ""
		}
		may := "nothing of umbra"
		if len(r.may) > 0 {
			may = strings.Join(r.may, ", ")
		}
		return fmt.Sprintf("%s imports %s: no such arrow (%s); it may import: %s", name(from), name(to), r.purpose, may)
	}
	return fmt.Sprintf("%s imports %s: the design has no package %s", name(from), name(to), from)
}

func known(from string) bool {
	return under(from, "scripts") || slices.ContainsFunc(rules, func(r rule) bool { return r.pkg == from })
}

// below is an import path relative to the module.
func below(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
}

func under(path string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(root string) bool {
		return path == root || strings.HasPrefix(path, root+"/")
	})
}

// standard tells the standard library, whose first path element has no dot.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func name(pkg string) string {
	if pkg == "" {
		return "main"
	}
	return pkg
}
