package missions

import (
	"strings"
	"testing"
	"time"
)

func TestParseMoment(t *testing.T) {
	t.Parallel()
	good := map[string]Moment{
		"fix-login":           {Base: "fix-login"},
		"3f2ac1":              {Base: "3f2ac1"},
		"fix~2":               {Base: "fix", Form: MomentBack, N: 2},
		"~1":                  {Form: MomentBack, N: 1},
		"fix@5":               {Base: "fix", Form: MomentTurn, N: 5},
		"@5":                  {Form: MomentTurn, N: 5},
		"fix@-1":              {Base: "fix", Form: MomentTurn, N: -1},
		"fix@5.0":             {Base: "fix", Form: MomentInTurn, N: 5},
		"fix@5.2":             {Base: "fix", Form: MomentInTurn, N: 5, K: 2},
		"fix@start":           {Base: "fix", Form: MomentFirst},
		"fix@fork":            {Base: "fix", Form: MomentForkPoint},
		"fix@{10m}":           {Base: "fix", Form: MomentByTime, When: "10m"},
		"office/fix@5":        {Base: "office/fix", Form: MomentTurn, N: 5},
		"office/3f2ac1~1":     {Base: "office/3f2ac1", Form: MomentBack, N: 1},
		"@{2026-01-31 16:40}": {Form: MomentByTime, When: "2026-01-31 16:40"},
	}
	for text, want := range good {
		got, err := ParseMoment(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if got.String() != text {
			t.Errorf("%s is printed as %s", text, got)
		}
	}
	for _, text := range []string{"", "Fix", "a b", "fix@", "fix@x", "fix@-0", "fix@-1.2", "fix@{}", "fix~x", "../x", "a/b/c", "/a", "a/", "A/b", "fix@5.", "-x", "@"} {
		if m, err := ParseMoment(text); err == nil {
			t.Errorf("%q is %+v", text, m)
		}
	}
}

func FuzzParseMoment(f *testing.F) {
	for _, s := range []string{"fix@5.0", "~1", "a@{10m}", "@-1", "x~9", "3f2ac1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := ParseMoment(s)
		if err != nil {
			return
		}
		if again, err := ParseMoment(m.String()); err != nil || again != m {
			t.Errorf("%q: %+v, then %+v, %v", s, m, again, err)
		}
	})
}

func TestParseWhen(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.FixedZone("", 3600))
	for text, want := range map[string]string{
		"10m": "2026-02-01T11:50:00+01:00", "2h": "2026-02-01T10:00:00+01:00", "3d": "2026-01-29T12:00:00+01:00",
		"1w ago": "2026-01-25T12:00:00+01:00", "2026-01-31": "2026-01-31T00:00:00+01:00",
		"2026-01-31 16:40": "2026-01-31T16:40:00+01:00", "09:30": "2026-02-01T09:30:00+01:00",
	} {
		got, err := ParseWhen(text, now)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: %s, %v", text, got.Format(time.RFC3339), err)
		}
	}
	for _, text := range []string{"", "soon", "-3d", "99", "2026-13-01"} {
		if got, err := ParseWhen(text, now); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{
		"Please fix the login page": "fix-login-page",
		"add a test for parse":      "add-test-parse",
		"!!!":                       "",
		"deadbeef":                  "",
		"the":                       "",
		"run":                       "",
		strings.Repeat("x", 100):    "",
		"refactor everything into smaller modules": "refactor-everything-into",
	} {
		if got := NameFromPrompt(prompt); got != want {
			t.Errorf("%q: %q, want %q", prompt, got, want)
		}
	}
	for _, bad := range []string{"", "A", "-x", "abc1", "x..y", "x.lock", "x.", "fork", "help", strings.Repeat("x", 64), "123e4567-e89b-12d3-a456-426614174000"} {
		if CheckName(bad) == nil {
			t.Errorf("%q is taken for a name", bad)
		}
	}
}
