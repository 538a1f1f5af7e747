package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages are the documents that people read.
func pages(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/agents/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			found[name] = string(text)
		}
	}
	if len(found) < 8 {
		t.Fatalf("only %d pages found", len(found))
	}
	return found
}

// TestLinks: a link of a page leads to something, and to a heading that is there.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]*)(?:#([^)]*))?\)`)
	all := pages(t)
	for name, text := range all {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target := name
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(name), m[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			} else if m[2] != "" && !slices.Contains(anchorsOf(all[target]), m[2]) {
				t.Errorf("%s links to %s, which has no heading #%s", name, target, m[2])
			}
		}
	}
}

// anchorsOf are the names by which a page's headings are linked to.
func anchorsOf(page string) (anchors []string) {
	dropped := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		anchors = append(anchors, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return anchors
}

// block is what stands between two fences of a page.
type block struct {
	line           int
	language, text string
}

// blocksOf are the blocks of a page.
func blocksOf(t *testing.T, page string) (list []block) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	open := false
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		language, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && open:
			open = false
		case fence:
			open = true
			list = append(list, block{line: n, language: language})
		case open:
			list[len(list)-1].text += line
		}
	}
	if open {
		t.Errorf("%s: the block of line %d has no end", page, list[len(list)-1].line)
	}
	return list
}

// running is who runs the blocks of a page that are in a language: a test, or nobody,
// because of something.
type running struct{ page, language, test, because string }

// runs are all of them.
func runs() []running {
	return []running{
		{page: "README.md", language: "sh", test: "TestReadme"},
		{page: "docs/concepts.md", language: "sh", test: "TestReadme"},
		{page: "docs/forks.md", language: "sh", test: "TestReadme"},
		{page: "docs/landing.md", language: "sh", test: "TestReadme"},
		{page: "docs/machines.md", language: "sh", because: "goes from one machine to another: TestTwoHomes and TestExportedMomentGoesOn do"},
		{page: "docs/troubleshooting.md", language: "sh", test: "TestReadme"},
		{page: "docs/cli.md", language: "sh", test: "TestExamples"},
		{page: "docs/configuration.md", language: "sh", test: "TestConfigurationPage"},
		{page: "docs/configuration.md", language: "yaml", test: "TestConfigurationPage"},
		{page: "docs/events.md", language: "sh", because: "names a file and a message of one's own: the script import of TestScripts makes both"},
		{page: "docs/editors.md", language: "sh", test: "TestEditorsPage"},
		{page: "docs/editors.md", language: "text", test: "TestEditorsPage"},
		{page: "docs/history.md", language: "sh", test: "TestHistoryRecipes"},
		{page: "docs/history.md", language: "bash", test: "TestHistoryRecipes"},
		{page: "docs/history.md", language: "zsh", test: "TestHistoryRecipes"},
		{page: "docs/history.md", language: "fish", test: "TestHistoryRecipes"},
		{page: "docs/history.md", language: "tmux", test: "TestHistoryRecipes"},
		{page: "docs/history.md", language: "toml", test: "TestHistoryRecipes"},
		{page: "docs/agents/generic.md", language: "sh", test: "TestScripts"},
		{page: "docs/design.md", language: "mermaid", test: "TestDiagram"},
		{page: "docs/design.md", language: "text", because: "a picture of packages: scripts/arrows holds who imports whom"},
		{page: "docs/format.md", language: "text", because: "a picture of directories"},
		{page: "docs/performance.md", language: "sh", because: "measures for minutes to hours"},
		{page: "CONTRIBUTING.md", language: "sh", because: "is the gate, which runs this test"},
		{page: "CONTRIBUTING.md", language: "text", because: "a prompt for the stand-in, whose directives its own tests hold"},
	}
}

// TestBlocks: each block of each page is run by a test, which is there, or is known
// to be nothing that one runs.
func TestBlocks(t *testing.T) {
	there, runs := declaredTests(t), runs()
	used := make([]bool, len(runs))
	for page := range pages(t) {
		for _, b := range blocksOf(t, page) {
			n := slices.IndexFunc(runs, func(r running) bool {
				return r.page == page && r.language == b.language
			})
			if n < 0 {
				t.Errorf("%s:%d: nobody runs this block of %q: have a test run it, and say so in runs", page, b.line, b.language)
				continue
			}
			used[n] = true
		}
	}
	for n, r := range runs {
		if !used[n] {
			t.Errorf("%s has no block of %s", r.page, r.language)
		}
		if (r.test == "") == (r.because == "") {
			t.Errorf("%s, %s: a test, or a reason", r.page, r.language)
		}
		text, err := os.ReadFile(there[r.test])
		if r.test != "" && (err != nil || !strings.Contains(string(text), filepath.Base(r.page)) && r.test != "TestExamples") {
			t.Errorf("%s in %q does not read %s", r.test, there[r.test], r.page)
		}
	}
}

// TestNamedTests: a test that a page names is there.
func TestNamedTests(t *testing.T) {
	there := declaredTests(t)
	named := regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z]\\w+)`")
	count := 0
	for name, text := range pages(t) {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			count++
			if there[m[1]] == "" {
				t.Errorf("%s names %s, which no package has", name, m[1])
			}
		}
	}
	if count < 50 {
		t.Errorf("the pages name only %d tests", count)
	}
}

// declaredTests are the tests of all packages, with the file of each.
func declaredTests(t *testing.T) map[string]string {
	t.Helper()
	there := map[string]string{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			there[m[1]] = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return there
}
