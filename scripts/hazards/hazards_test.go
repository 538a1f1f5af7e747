package hazards

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// TestEveryHazardHasItsTests: each is reproduced by one test and held by one,
// and the table in docs/hazards.md is the one that the tests give.
func TestEveryHazardHasItsTests(t *testing.T) {
	claims, err := scan(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range missing(claims) {
		t.Error(fault)
	}
	file := filepath.Join(root, "docs", "hazards.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, err := replace(string(page), section(claims))
	if err != nil {
		t.Fatal(err)
	}
	if want == string(page) {
		return
	}
	if os.Getenv("UMBRA_UPDATE_DOCS") == "" {
		t.Fatal("docs/hazards.md is not what the tests say: UMBRA_UPDATE_DOCS=1 go test ./scripts/hazards")
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestScan(t *testing.T) {
	const head = "package p\nimport \"testing\"\n"
	_, err := scanFile("a_test.go", head+`
func TestA(t *testing.T) {
	t.Run("x", func(t *testing.T) { hazards.Shown(t, hazards.H1, true, "git | fails") })
	hazards.Held(t, hazards.H1, "Umbra "+"not")
}`)
	if err == nil || !strings.Contains(err.Error(), "literal") {
		t.Errorf("what is no literal: %v", err)
	}
	claims, err := scanFile("a_test.go", head+`
func TestA(t *testing.T) {
	t.Run("x", func(t *testing.T) { hazards.Shown(t, hazards.H1, true, "git | fails") })
	hazards.Held(t, hazards.H99, "Umbra does not")
	hazards.Needs(t, hazards.H2, false, "a moon")
	other.Held(t, hazards.H3, "")
}`)
	if err != nil || len(claims) != 3 || claims[0] != (claim{"Shown", H1, "TestA", "git | fails"}) {
		t.Fatalf("%v, %v", claims, err)
	}
	if got := section(claims); !strings.Contains(got, "| git \\| fails `TestA` |") || !strings.Contains(got, "- H2, `TestA`: needs a moon.") {
		t.Error(got)
	}
	faults := strings.Join(missing(claims), "\n")
	for _, want := range []string{"H1: no test says Held", "H2: no test says Shown", "TestA: H99 is not in the table"} {
		if !strings.Contains(faults, want) {
			t.Errorf("no %q in:\n%s", want, faults)
		}
	}
	if strings.Contains(faults, "H1: no test says Shown") {
		t.Error(faults)
	}
	for _, bad := range []string{
		`func helper(t *testing.T) { hazards.Held(t, hazards.H1, "x") }`,
		`func TestA(t *testing.T) { hazards.Held(t, id, "x") }`,
	} {
		if claims, err := scanFile("a_test.go", head+bad); err == nil {
			t.Errorf("%s gave %v", bad, claims)
		}
	}
}

func TestTableIsWhole(t *testing.T) {
	seen := map[ID]bool{}
	for _, h := range table {
		if seen[h.ID] || h.Elsewhere == "" {
			t.Errorf("%+v", h)
		}
		seen[h.ID] = true
	}
	if len(seen) != 55 {
		t.Errorf("%d hazards", len(seen))
	}
	if _, err := replace("a page without", ""); err == nil {
		t.Error("a page without its place was taken")
	}
}

// A failure that did not happen fails the test that was to show it.
func TestShownFails(t *testing.T) {
	fake := &recorder{TB: t}
	Shown(fake, H1, true, "x")
	if fake.fatal {
		t.Error("a failure that was seen failed the test")
	}
	Shown(fake, H1, false, "x")
	if !fake.fatal {
		t.Error("a failure that was not seen passed")
	}
	Needs(fake, H1, true, "x")
	if fake.skipped {
		t.Error("skipped for nothing")
	}
	Needs(fake, H1, false, "x")
	if !fake.skipped {
		t.Error("not skipped")
	}
}

// recorder is a test that only notes how it ended.
type recorder struct {
	testing.TB
	fatal, skipped bool
}

func (r *recorder) Fatalf(string, ...any) { r.fatal = true }
func (r *recorder) Skipf(string, ...any)  { r.skipped = true }
func (r *recorder) Logf(string, ...any)   {}
