package highlight

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2"
)

// TestDefinitions: what is committed is what scripts/lexers makes of the chroma
// that go.mod names.
func TestDefinitions(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("go", "run", "scripts/lexers/main.go", "-out", dir)
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	made, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range made {
		want, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join("lexers", f.Name())); err != nil || !bytes.Equal(got, want) {
			t.Errorf("lexers/%s is not as it is made now (%v): go run scripts/lexers/main.go", f.Name(), err)
		}
	}
	if here, err := os.ReadDir("lexers"); err != nil || len(here) != len(made)+1 { // COPYING
		t.Errorf("lexers holds %d files, want %d: %v", len(here), len(made)+1, err)
	}
}

// TestLinked: no program of Umbra links chroma's own languages, which are
// registered at every start.
func TestLinked(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(out, []byte("github.com/alecthomas/chroma/v2\n")) {
		t.Error("nothing links chroma: this test looks at nothing")
	}
	if bytes.Contains(out, []byte("github.com/alecthomas/chroma/v2/lexers")) {
		t.Error("github.com/alecthomas/chroma/v2/lexers is linked: the definitions in lexers are to be used")
	}
}

// TestNothingAtStart: no definition is read before a text is looked at.
func TestNothingAtStart(t *testing.T) {
	if os.Getenv("HIGHLIGHT_START") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestNothingAtStart$", "-test.v")
		cmd.Env = append(os.Environ(), "HIGHLIGHT_START=1")
		if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: TestNothingAtStart")) {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if loaded.by != nil {
		t.Errorf("%d languages are read at the start", len(loaded.by))
	}
	if Source("a.go", "package a\n") == nil || len(loaded.by) != 1 {
		t.Errorf("%d languages are read, want Go alone", len(loaded.by))
	}
}

// lines of the index: the file, the name and the files' names of each language.
func indexed() (list [][]string) {
	for line := range strings.Lines(index) {
		list = append(list, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return list
}

// TestMain lets no test fail because a machine is slow.
func TestMain(m *testing.M) {
	longest = time.Hour
	os.Exit(m.Run())
}

// TestLanguages: each language can be read, scans a third of the sources to their
// end without a gap, and says of each piece what chroma itself says. What
// chroma says is kept as sums, since it gives up on a rule after a time;
// UMBRA_UPDATE_GOLDEN=1 asks it.
func TestLanguages(t *testing.T) {
	samples, err := filepath.Glob("testdata/samples/*")
	if err != nil || len(samples) < 5 {
		t.Fatalf("%d samples: %v", len(samples), err)
	}
	var said strings.Builder
	for n, fields := range indexed() {
		loaded.Lock()
		l, err := load(fields[0], fields[1])
		loaded.Unlock()
		if err != nil {
			t.Error(err)
			continue
		}
		for i, name := range samples {
			if (n+i)%3 != 0 {
				continue
			}
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			tokens := scanned(l, string(text))
			if os.Getenv("UMBRA_UPDATE_GOLDEN") != "" {
				if tokens = chromas(t, l, string(text)); !slices.Equal(tokens, scanned(l, string(text))) {
					t.Errorf("%s as %s is scanned otherwise: chroma says\n%q\nnot\n%q", name, fields[0], tokens, scanned(l, string(text)))
				}
			}
			whole := ""
			for _, k := range tokens {
				whole += k.Value
			}
			if whole != string(text) {
				t.Errorf("%s as %s is scanned as\n%s", name, fields[0], whole)
			}
			fmt.Fprintf(&said, "%s\t%s\t%x\n", fields[0], filepath.Base(name), sha256.Sum256(fmt.Appendf(nil, "%q", tokens)))
		}
	}
	const file = "testdata/chroma.txt"
	if os.Getenv("UMBRA_UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(said.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(said.String()) {
		if !strings.Contains(string(want), line) {
			t.Errorf("scanned otherwise than chroma does: %s", line)
		}
	}
}

// scanned are the pieces of a text, those of one kind in one.
func scanned(l *language, text string) (list []chroma.Token) {
	l.scan(text, func(kind chroma.TokenType, piece string) {
		list = withToken(list, chroma.Token{Type: kind, Value: piece})
	})
	return list
}

// chromas is scanned by chroma itself.
func chromas(t *testing.T, l *language, text string) (list []chroma.Token) {
	t.Helper()
	next, err := l.lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text)
	if err != nil {
		t.Fatal(err)
	}
	for k := next(); k != chroma.EOF; k = next() {
		list = withToken(list, k)
	}
	return list
}

func withToken(list []chroma.Token, k chroma.Token) []chroma.Token {
	n := len(list) - 1
	switch {
	case k.Value == "":
		return list
	case n >= 0 && list[n].Type == k.Type:
		list[n].Value += k.Value
		return list
	}
	return append(list, k)
}
