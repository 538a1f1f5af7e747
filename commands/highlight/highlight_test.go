package highlight

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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
		want, err := unzipped(os.ReadFile(filepath.Join(dir, f.Name())))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := unzipped(os.ReadFile(filepath.Join("lexers", f.Name()))); err != nil || !bytes.Equal(got, want) {
			t.Errorf("lexers/%s is not as it is made now (%v): go run scripts/lexers/main.go", f.Name(), err)
		}
	}
	if here, err := os.ReadDir("lexers"); err != nil || len(here) != len(made)+1 { // COPYING
		t.Errorf("lexers holds %d files, want %d: %v", len(here), len(made)+1, err)
	}
}

// unzipped is what a file holds, which another Go may zip otherwise.
func unzipped(text []byte, err error) ([]byte, error) {
	if err != nil || !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		return text, err
	}
	r, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
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

// TestLanguages: each language can be read, and scans a third of the sources to their
// end without a gap.
func TestLanguages(t *testing.T) {
	samples, err := filepath.Glob("testdata/samples/*")
	if err != nil || len(samples) < 5 {
		t.Fatalf("%d samples: %v", len(samples), err)
	}
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
			whole := ""
			scan(l, string(text), time.Now().Add(longest), func(_ chroma.TokenType, piece string) { whole += piece })
			if whole != string(text) {
				t.Errorf("%s as %s is scanned as\n%s", name, fields[0], whole)
			}
		}
	}
}

// TestTimeIsOver: what there is no time for is not painted.
func TestTimeIsOver(t *testing.T) {
	lines := []string{"package a", "var x = 1"}
	if runs := runsOf("a.go", lines, time.Now()); len(runs) != len(lines) || len(runs[0])+len(runs[1]) > 0 {
		t.Errorf("without time: %v", runs)
	}
}
