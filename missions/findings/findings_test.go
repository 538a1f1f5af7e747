package findings

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// lines are findings as a test compares them.
func lines(list []Finding) (all []string) {
	for _, f := range list {
		line := string(f.Severity) + " " + f.Place() + " " + f.Message
		for _, more := range []string{f.Rule, f.Suggestion} {
			if more != "" {
				line += " | " + more
			}
		}
		all = append(all, line)
	}
	return all
}

const sarif = `{"version": "2.1.0", "runs": [{
 "tool": {"driver": {"name": "lint", "rules": [
  {"id": "unused", "defaultConfiguration": {"level": "note"}, "messageStrings": {"default": {"text": "{0} is not used"}}},
  {"id": "sqli", "properties": {"security-severity": "9.1"}}]}},
 "originalUriBaseIds": {"SRC": {"uri": "file:///home/ada/app/"}},
 "artifacts": [{"location": {"uri": "pay/tax.go"}}],
 "results": [
  {"ruleId": "unused", "message": {"id": "default", "arguments": ["x"]},
   "locations": [{"physicalLocation": {"artifactLocation": {"uri": "pay/a%20b.go", "uriBaseId": "SRC"}, "region": {"startLine": 3, "startColumn": 2}}}]},
  {"ruleIndex": 1, "level": "warning", "message": {"text": "a query of what was typed"},
   "locations": [{"physicalLocation": {"artifactLocation": {"index": 0}}}], "fixes": [{"description": {"text": "bind it"}}]},
  {"ruleId": "shadow", "level": "error", "message": {"text": "err is shadowed"},
   "locations": [{"physicalLocation": {"artifactLocation": {"uri": "file:///home/ada/app/main.go"}, "region": {"startLine": 7}}}]},
  {"ruleId": "plain", "message": {"text": "no level"}},
  {"ruleId": "good", "kind": "pass", "message": {"text": "passed"}},
  {"ruleId": "known", "message": {"text": "suppressed"}, "suppressions": [{"kind": "inSource"}]},
  {"ruleId": "gone", "baselineState": "absent", "message": {"text": "was there"}}
 ]}]}`

func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, output string
		want         []string
	}{
		{"sarif", "linting\n" + sarif + "\nmain.go:1:2: and a line\n", []string{
			"critical pay/tax.go a query of what was typed | sqli | bind it",
			"high main.go:7 err is shadowed | shadow",
			"medium  no level | plain",
			"medium main.go:1:2 and a line",
			"low pay/a b.go:3:2 x is not used | unused",
		}},
		{"list", `[{"severity": "high", "message": "no test", "file": "/home/ada/app/pay/sum.go", "line": 12, "suggestion": "write one"}, {"message": "odd"}]`, []string{
			"high pay/sum.go:12 no test | write one", "medium  odd",
		}},
		{"empty list", "[]\n", nil},
		{"another list", "[1, 2]\n[{\"id\": 3}]\n{\"runs\": 3}\n", nil},
		{"go", "# example.com/pay\n./sum.go:12:4: undefined: x\n./sum.go:12:4: undefined: x\n", []string{"medium sum.go:12:4 undefined: x"}},
		{"gcc", "In file included from a.c:1:\na.c:3:5: error: expected ';'\na.c:2:1: note: declared here\na.c:9:1: warning: unused [-Wunused]\n", []string{
			"high a.c:3:5 error: expected ';'", "medium a.c:9:1 warning: unused [-Wunused]",
		}},
		{"tsc", "src/a.ts(12,5): error TS2322: no string\nsrc/b.ts:1:2 - error TS1005: ';' expected.\n", []string{
			"high src/a.ts:12:5 error TS2322: no string", "high src/b.ts:1:2 error TS1005: ';' expected.",
		}},
		{"rustc", "error[E0308]: mismatched types\n  --> src/main.rs:2:5\n   |\n", []string{"high src/main.rs:2:5 error[E0308]: mismatched types"}},
		{"colours", "\x1b[1msum.go:1:\x1b[0m bad\r\n", []string{"medium sum.go:1 bad"}},
		{"make", "Makefile:3: *** missing separator.  Stop.\n", []string{"medium Makefile:3 *** missing separator.  Stop."}},
		{"no places", "12:30:45: begun\n2026/11/27 07:00:12 server up\n127.0.0.1:8080: refused\nlocalhost:80: refused\nhttp://host.example:80: x\nok 3:4\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := lines(Parse([]byte(c.output), "/home/ada/app")); !slices.Equal(got, c.want) {
				t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestWhole: the end of an output stands for all of it.
func TestWhole(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("many lines, \u00fc\n", 1000) + "FAIL\n"
	f := Whole([]byte(long))
	if f.Severity != missions.SeverityMedium || !strings.HasSuffix(f.Message, "FAIL") || strings.Count(f.Message, "\n") != tailLines-1 {
		t.Errorf("%+v", f)
	}
	if f := Whole([]byte(strings.Repeat("\u00fc", 4000))); len(f.Message) > tailBytes || !strings.HasPrefix(f.Message, "\u00fc") {
		t.Errorf("%d bytes: %.10q", len(f.Message), f.Message)
	}
	if f := Whole(nil); f.Message == "" {
		t.Error("a silent check has no finding")
	}
}

// TestReadReview: an answer counts that ends with a list of findings inside what was reviewed;
// whatever else an agent says is no review, and never a good one.
func TestReadReview(t *testing.T) {
	t.Parallel()
	const one = `[{"severity": "high", "message": "wrong", "file": "/copy/pay/sum.go", "line": 3, "suggestion": "add"}]`
	found := []Finding{{Severity: missions.SeverityHigh, Message: "wrong", File: "pay/sum.go", Line: 3, Suggestion: "add"}}
	for answer, want := range map[string][]Finding{
		one: found, "All in all it is good.\n\n" + one + "\n": found, "Here:\n```json\n" + one + "\n```\n": found, "[]": {}, "Nothing.\n\n```\n[]\n```": {},
		`[{"severity": "Low", "message": "m", "file": "./a.go", "line": null}]`:       {{Severity: missions.SeverityLow, Message: "m", File: "a.go"}},
		"```json\n[{\"severity\": \"low\", \"message\": \"use ```go f() ```\"}]\n```": {{Severity: missions.SeverityLow, Message: "use ```go f() ```"}},
		`[{"severity": "low", "message": "m"}]`:                                       {{Severity: missions.SeverityLow, Message: "m"}},
		`[{"severity": "low", "message": "m", "file": "/live/a.go"}]`:                 {{Severity: missions.SeverityLow, Message: "m", File: "a.go"}},
	} {
		if got, err := ReadReview(answer, "/copy", "/live"); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v", answer, got, err)
		}
	}
	for _, answer := range []string{
		"", " \n", "All is well.", "null", "{}", "[", "``````", "```\n```", one + "\nI hope that helps.", "[]\n" + one, "```\n[]\n```\nor\n```\nnull\n```",
		`[{"severity": "low"}]`, `[{"severity": "urgent", "message": "m"}]`, `[{"message": "m"}]`, `[null]`, `["wrong"]`, `[[]]`, `[{"severity": "low", "message": " "}]`,
		`[{"severity": "low", "message": "m", "line": "3"}]`, `[{"severity": "low", "message": "m", "file": "/etc/passwd"}]`,
		`[{"severity": "low", "message": "m", "file": "../other/a.go"}]`, `[{"severity": "low", "message": "m", "file": "/copy/../other/a.go"}]`,
		`[{"severity": "low", "message": "m", "file": "."}]`, `[{"severity": "low", "message": "m", "file": "a.go"}, {"severity": "low", "message": "m", "file": "/copyright"}]`,
	} {
		if got, err := ReadReview(answer, "/copy", "/live"); !errors.Is(err, ErrNoReview) || got != nil {
			t.Errorf("%q: %+v, %v", answer, got, err)
		}
	}
}

// TestAreSame: a finding is the same where its line has moved, and where a duration differs.
func TestAreSame(t *testing.T) {
	t.Parallel()
	a, b := Finding{File: "a.go", Line: 3, Message: "FAIL 0.02s"}, Finding{File: "a.go", Line: 9, Message: "unused"}
	moved := a
	moved.Line, moved.Message = 5, "FAIL 1.5s"
	for _, c := range []struct {
		one, other []Finding
		same       bool
	}{
		{[]Finding{a, b}, []Finding{b, moved}, true}, {[]Finding{b, b}, []Finding{b}, false}, {nil, nil, true},
		{[]Finding{a}, []Finding{b}, false}, {[]Finding{{Message: "got 3"}}, []Finding{{Message: "got 4"}}, false},
	} {
		if AreSame(c.one, c.other) != c.same {
			t.Errorf("%v and %v: not %v", c.one, c.other, c.same)
		}
	}
}

func TestWorst(t *testing.T) {
	t.Parallel()
	low, high := Finding{Severity: missions.SeverityLow, Message: "a"}, Finding{Severity: missions.SeverityHigh, Message: "b"}
	if severity, list := Worst([]Finding{low, high, low}); severity != missions.SeverityHigh || !reflect.DeepEqual(list, []Finding{high}) {
		t.Errorf("%s %v", severity, list)
	}
	if severity, list := Worst(nil); severity != "" || list != nil {
		t.Errorf("%s %v", severity, list)
	}
}

// FuzzFindings: whatever a check prints is read, each finding has a known severity, and no
// line of it is another.
func FuzzFindings(f *testing.F) {
	for _, seed := range []string{sarif, "a.go:1:2: x\n", "[{\"message\": \"a\"}]", "error: x\n --> a.rs:1:2\n", "{[{["} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		list := Parse(output, "/home/ada/app")
		for _, one := range list {
			if !slices.Contains(Severities(), one.Severity) || one.Line < 0 || one.Column < 0 {
				t.Fatalf("%+v", one)
			}
		}
		if !AreSame(list, list) || Whole(output).Message == "" {
			t.Fatalf("%v", list)
		}
	})
}
