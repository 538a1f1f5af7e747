package missions

import (
	"context"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"restore", "redo", "show", "snapshot", "status"}
	for word, want := range map[string]string{
		"restroe": "restore", "shwo": "show", "stats": "status", "snapsot": "snapshot", "sna": "snapshot",
		"frobnicate": "", "sn": "", "hope": "", "": "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := Nearest("log", []string{"login-a", "login-b"}); got != "" {
		t.Errorf("of two that begin so, %q was meant", got)
	}
}

// TestDidYouMean: a name that is nearly that of a mission or pin is answered with it,
// and a moment with the moment.
func TestDidYouMean(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("fix-login")
	if _, err := b.local.Pin(context.Background(), PinRequest{Caller: b.caller(), Moment: "fix-login", Name: "good-state"}); err != nil {
		t.Fatal(err)
	}
	elsewhere := b.caller()
	elsewhere.Cwd = t.TempDir()
	const all = "umbra log, umbra mission ls or umbra pins list what there is"
	for _, c := range []struct {
		at          Caller
		typed, want string
		r           reach
	}{
		{b.caller(), "fix-lgoin@1.0", "did you mean fix-login@1.0? (" + all + ")", writing},
		{b.caller(), "fix-logn~2", "did you mean fix-login~2? (" + all + ")", reading},
		{b.caller(), "good-stat", "did you mean good-state? (" + all + ")", writing},
		{b.caller(), "nothing-like-it", all, reading},
		{elsewhere, "fix-logn@{10m}", "did you mean fix-login@{10m}? (" + all + ")", reading},
		{elsewhere, "fix-logn", all, writing},
	} {
		_, err := b.local.findMoment(context.Background(), c.at, c.typed, c.r)
		if b.fails(c.typed, err, KindNotFound); AsError(err).Hint != c.want {
			t.Errorf("%s: %q, want %q", c.typed, AsError(err).Hint, c.want)
		}
	}
	for typed, want := range map[string]string{"fix-logn": "did you mean fix-login? (", "Fix-Login": "did you mean fix-login? (", "good-stat": "umbra mission ls", "zebra": "umbra mission ls"} {
		_, err := b.local.findMission(context.Background(), b.caller(), typed, writing)
		if b.fails(typed, err, KindNotFound); !strings.HasPrefix(AsError(err).Hint, want) {
			t.Errorf("mission %s: %q, want %q", typed, AsError(err).Hint, want)
		}
	}
}
