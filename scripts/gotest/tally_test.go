package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRun runs a module of its own, so that what it counts is what go says.
func TestRun(t *testing.T) {
	module(t, map[string]string{
		"good/good_test.go":     "package good\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Run(\"sub\", func(t *testing.T) {}) }\nfunc TestB(t *testing.T) { t.Skip(\"no moon\") }\n",
		"bad/bad_test.go":       "package bad\n\nimport \"testing\"\n\nfunc TestC(t *testing.T) { t.Error(\"so it goes\") }\nfunc TestD(t *testing.T) {}\n",
		"told/told_test.go":     "package told\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestT(t *testing.T) {\n\tif os.Getenv(\"TOLD\") != \"so\" {\n\t\tt.Skip(\"nobody has\")\n\t}\n}\n",
		"dead/dead_test.go":     "package dead\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { println(\"last words\"); os.Exit(3) }\n",
		"broken/broken.go":      "package broken\n\nvar x int = \"one\"\n",
		"broken/broken_test.go": "package broken\n\nimport \"testing\"\n\nfunc TestE(t *testing.T) {}\n",
	})

	for _, c := range []struct {
		args string
		code int
		last string
		want []string
	}{
		{"./good", 0, "2 passed, 0 failed", []string{"ok  \texample.test/good", "example.test/good TestB: good_test.go:6: no moon", "1 skipped"}},
		{"./bad", 1, "1 passed, 1 failed", []string{"so it goes", "FAIL\texample.test/bad"}},
		{"./dead", 1, "0 passed, 1 failed", []string{"last words", "FAIL\texample.test/dead"}},
		{"./broken", 1, "0 passed, 1 failed", []string{"cannot use \"one\"", "FAIL\texample.test/broken"}},
		{"./nowhere", 1, "0 passed, 1 failed", []string{"FAIL"}},
		{"./...", 1, "3 passed, 3 failed", nil},
		{"TOLD=so ./told -- ./told", 0, "1 passed, 0 failed", []string{"example.test/told TestT: told_test.go:10: nobody has", "1 skipped"}},
		{"./good -- ./bad", 1, "3 passed, 1 failed", []string{"ok  \texample.test/good", "FAIL\texample.test/bad"}},
		{"./bad -- ./nowhere -- ./good", 1, "3 passed, 2 failed", []string{"FAIL\t./nowhere", "ok  \texample.test/good"}},
	} {
		var out strings.Builder
		code, err := run(strings.Fields(c.args), &out, nil)
		if err != nil {
			t.Fatal(err)
		}
		text := out.String()
		lines := strings.Split(strings.TrimSpace(text), "\n")
		if code != c.code || lines[len(lines)-1] != c.last {
			t.Errorf("run %s = %d, last line %q, want %d, %q; all:\n%s", c.args, code, lines[len(lines)-1], c.code, c.last, text)
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("run %s: no %q in:\n%s", c.args, want, text)
			}
		}
	}
}

// TestAgain runs a test again that failed, alone, and nothing that failed in a way that is
// no matter of luck.
func TestAgain(t *testing.T) {
	const first = "func first(name string) bool { _, err := os.Stat(name); os.WriteFile(name, nil, 0o600); return err != nil }\n"
	test := func(pkg, body string) string {
		return "package " + pkg + "\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n" + first + body
	}
	module(t, map[string]string{
		"luck/luck_test.go":   test("luck", "func TestA(t *testing.T) { t.Run(\"sub\", func(t *testing.T) { if first(\"a\") { t.Error(\"too slow\") } }) }\nfunc TestAB(t *testing.T) {}\n"),
		"part/part_test.go":   test("part", "func TestS(t *testing.T) { t.Run(\"a sub/1\", func(t *testing.T) { if first(\"s\") { t.Error(\"too slow\") } }); t.Run(\"other\", func(t *testing.T) { if !first(\"o\") { t.Error(\"again\") } }) }\n"),
		"left/left_test.go":   test("left", "func TestL(t *testing.T) { t.Run(\"sub\", func(t *testing.T) { if first(\"l\") { t.Error(\"too slow\") } }); if first(\"l2\") { t.Error(\"left a process\") } }\n"),
		"gone/gone_test.go":   test("gone", "func TestG(t *testing.T) { f := first(\"n\"); t.Run(\"one\", func(t *testing.T) { if f { t.Error(\"too slow\") }; t.Run(\"a\", func(t *testing.T) {}); t.Run(\"b\", func(t *testing.T) {}) }); if f { t.Run(\"two\", func(t *testing.T) { t.Error(\"too slow\") }) } }\n"),
		"again/again_test.go": test("again", "func TestG(t *testing.T) { if first(\"g\") { t.Error(\"too slow\") } }\n"),
		"fate/fate_test.go":   test("fate", "func TestF(t *testing.T) { first(\"f\"); t.Error(\"each time\") }\n"),
		"dead/dead_test.go":   test("dead", "func TestD(t *testing.T) { if first(\"d\") { panic(\"once\") } }\nfunc TestE(t *testing.T) {}\n"),
		"race/race_test.go":   test("race", "func TestR(t *testing.T) { if first(\"r\") { println(\"WARNING: DATA RACE\"); t.Error(\"once\") } }\n"),
		"many/many_test.go":   test("many", "func TestM(t *testing.T) { if first(\"m\") { t.Error(\"once\") } }\nfunc TestN(t *testing.T) { if first(\"n\") { t.Error(\"once\") } }\nfunc TestO(t *testing.T) { if first(\"o\") { t.Error(\"once\") } }\nfunc TestP(t *testing.T) { if first(\"p\") { t.Error(\"once\") } }\n"),
	})
	for _, c := range []struct {
		args string
		code int
		last string
		want string
	}{
		{"-count=1 example.test/luck", 0, "3 passed, 0 failed", "unsteady\texample.test/luck TestA failed"},
		{"-count=1 ./part", 0, "3 passed, 0 failed", "unsteady\texample.test/part TestS failed"},
		{"-count=1 ./left", 1, "0 passed, 2 failed", "left a process"},
		{"-count=1 ./gone", 1, "2 passed, 3 failed", "TestG fails too"},
		{"-count=1 ./luck ./again/...", 0, "4 passed, 0 failed", "unsteady\texample.test/again TestG failed"},
		{"-count=1 example.test/fate", 1, "0 passed, 1 failed", "alone\texample.test/fate TestF fails too"},
		{"-count=1 example.test/dead", 1, "0 passed, 1 failed", "panic: once"},
		{"-count=1 example.test/race", 1, "0 passed, 1 failed", "FAIL\texample.test/race TestR"},
		{"-count=1 example.test/many", 1, "0 passed, 4 failed", "FAIL\texample.test/many TestP"},
	} {
		var out strings.Builder
		code, err := run(strings.Fields(c.args), &out, nil)
		text := strings.TrimSpace(out.String())
		lines := strings.Split(text, "\n")
		if code != c.code || err != nil || lines[len(lines)-1] != c.last || !strings.Contains(text, c.want) {
			t.Errorf("run %s = %d, %v, last line %q, want %d, %q and %q; all:\n%s", c.args, code, err, lines[len(lines)-1], c.code, c.last, c.want, text)
		}
	}
}

// TestCutOff: what hangs is named, shows where it is, and is counted; so is what had
// ended before.
func TestCutOff(t *testing.T) {
	module(t, map[string]string{
		"slow/slow_test.go": "package slow\n\nimport (\n\t\"os\"\n\t\"testing\"\n\t\"time\"\n)\n\nfunc TestA(t *testing.T) {}\nfunc TestStuck(t *testing.T) { os.WriteFile(\"begun\", nil, 0o600); time.Sleep(time.Hour) }\nfunc TestZ(t *testing.T) {}\n",
	})
	cut := make(chan os.Signal, 1)
	var out strings.Builder
	tally := newTally(&out)
	isStuck := func() bool {
		tally.mu.Lock()
		defer tally.mu.Unlock()
		_, running := tally.running["example.test/slow TestStuck"]
		_, err := os.Stat("slow/begun")
		return running && err == nil
	}
	go func() {
		for !isStuck() {
			time.Sleep(10 * time.Millisecond)
		}
		cut <- os.Interrupt
	}()
	code, err := count(tally, []string{"./slow"}, cut)
	text := out.String()
	for _, want := range []string{"slow_test.go:10", "\ncut off\texample.test/slow TestStuck, after", "\n1 passed, 1 failed\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	if code == 0 || err != nil {
		t.Errorf("it ends with %d, %v", code, err)
	}
}

// TestLong: the tests that took longest are named, the longest first, and no subtest.
func TestLong(t *testing.T) {
	var out strings.Builder
	tally := newTally(&out)
	events := `{"Action":"pass","Package":"p","Test":"TestA","Elapsed":19.9}
{"Action":"pass","Package":"p","Test":"TestB/sub","Elapsed":60}
{"Action":"pass","Package":"p","Test":"TestB","Elapsed":61}
{"Action":"fail","Package":"q","Test":"TestC","Elapsed":300}
{"Action":"pass","Package":"p","Elapsed":400}
`
	if _, err := tally.read(strings.NewReader(events), request{}); err != nil {
		t.Fatal(err)
	}
	tally.close()
	if want := "long\t 300s q TestC\nlong\t  61s p TestB\n3 passed, 1 failed\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("it says %q, want at its end %q", out.String(), want)
	}
}

// module makes one of these files, and works there.
func module(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	files["go.mod"] = "module example.test\n\ngo 1.26.0\n"
	for path, text := range files {
		file := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}
