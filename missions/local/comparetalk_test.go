package local

import (
	"bytes"
	"context"
	"os"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// rewrite changes one byte in the middle of the session's file, in place, and puts
// its time back: only its content tells.
func (c *talker) rewrite() string {
	c.Helper()
	info, err := os.Stat(c.transcript)
	if err != nil {
		c.Fatal(err)
	}
	text, err := os.ReadFile(c.transcript)
	if err != nil {
		c.Fatal(err)
	}
	at := len(text)/2 + bytes.Index(text[len(text)/2:], []byte("words"))
	file, err := os.OpenFile(c.transcript, os.O_WRONLY, 0)
	if err != nil {
		c.Fatal(err)
	}
	defer file.Close()
	_, err = file.WriteAt([]byte("WORDS"), int64(at))
	if err := errorsOf(err, os.Chtimes(c.transcript, time.Now(), info.ModTime())); err != nil {
		c.Fatal(err)
	}
	copy(text[at:], "WORDS")
	return string(text)
}

// TestRewrittenTalkIsFound: an agent rewrites a line in the middle of a long
// conversation. A process that watches finds it when all is quiet, and only then;
// one that does not finds it at the end of the turn; either at the end of the
// mission.
func TestRewrittenTalkIsFound(t *testing.T) {
	t.Parallel()
	recorded := func(c *talker, what, want string, generation int) {
		t.Helper()
		if got, meta := c.recordedSession(); got != want || meta.Generation != generation {
			t.Errorf("%s: generation %d, %d bytes recorded, want %d, the same: %v", what, meta.Generation, len(got), len(want), got == want)
		}
	}
	prompt := map[string]any{"prompt": "go", "prompt_id": "p1"}
	stop := map[string]any{"prompt_id": "p1", "last_assistant_message": "yes"}
	t.Run("watched", func(t *testing.T) {
		c := startLong(t)
		c.local.Watching = servedSeeing{}
		c.hook("UserPromptSubmit", prompt)
		before, _ := c.recordedSession()
		text := c.rewrite()
		quiet := func() {
			t.Helper()
			if err := c.local.Observe(t.Context(), c.dir, missions.SawQuiet); err != nil {
				t.Fatal(err)
			}
		}
		quiet()
		recorded(c, "in a turn", before, 1)
		c.hook("Stop", stop)
		recorded(c, "at the end of the turn", before, 1)
		quiet()
		recorded(c, "when all is quiet", text, 2)
		m := c.only()
		quiet()
		if now := c.only(); now.Head != m.Head {
			t.Error("a conversation that stands is recorded again")
		}
		text = c.rewrite()
		c.hook("SessionEnd", map[string]any{"reason": "other"})
		recorded(c, "at the end", text, 3)
		c.healthy()
	})
	for name, watching := range map[string]missions.Watching{"not watched": nil, "not watched by a daemon": servedBlind{}} {
		t.Run(name, func(t *testing.T) {
			c := startLong(t)
			c.local.Watching = watching
			c.hook("UserPromptSubmit", prompt)
			text := c.rewrite()
			c.hook("Stop", stop)
			recorded(c, "at the end of the turn", text, 2)
			c.healthy()
		})
	}
}

// servedSeeing is a Watching that watches, though anything may have changed.
type servedSeeing struct{ servedBlind }

func (servedSeeing) Take(context.Context, string) missions.Dirty {
	return missions.Dirty{Full: true, Why: "a test"}
}

// TestComparedOnce: a session file that was compared is not read again until it
// changes, but one that has just been written to may change unseen.
func TestComparedOnce(t *testing.T) {
	t.Parallel()
	c := startLong(t)
	c.local.Watching = servedBlind{}
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p1"})
	c.hook("Stop", map[string]any{"prompt_id": "p1", "last_assistant_message": "yes"})
	m, err := c.local.MissionByID(c.only().ID)
	if err != nil {
		t.Fatal(err)
	}
	stands := func(now time.Time) {
		t.Helper()
		c.local.Clock = func() time.Time { return now }
		if same, err := c.local.SessionFileMatches(t.Context(), m); err != nil || !same {
			t.Fatalf("the conversation stands: %v, %v", same, err)
		}
	}
	written := time.Unix(0, home.StampOf(c.transcript).Mtime)
	stands(written)
	if c.local.MissionCache.ComparedStamp(m.ID) != (home.FileStamp{}) {
		t.Error("believed as it was a moment after it was written")
	}
	stands(written.Add(time.Minute))
	if c.local.MissionCache.ComparedStamp(m.ID) != home.StampOf(c.transcript) {
		t.Error("not remembered")
	}
	c.rewrite()
	if same, err := c.local.SessionFileMatches(t.Context(), m); err != nil || same {
		t.Errorf("after it was rewritten it stands: %v, %v", same, err)
	}
}

// TestForkOfARewrittenTalk: a fork of now holds the conversation as it is now, also
// where the agent has just rewritten its middle; one of a past moment holds what
// was said then.
func TestForkOfARewrittenTalk(t *testing.T) {
	t.Parallel()
	c := startLong(t)
	c.local.Watching = servedBlind{}
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p1"})
	c.hook("Stop", map[string]any{"prompt_id": "p1", "last_assistant_message": "yes"})
	source := c.only().Name
	c.rewrite()
	for _, from := range []string{source, source + "@1.0"} {
		made, err := c.local.Fork(t.Context(), missions.ForkRequest{Caller: c.caller(), From: from})
		if err != nil || len(made.Missions) != 1 {
			t.Fatalf("fork of %s: %+v %v", from, made, err)
		}
		text, err := os.ReadFile(made.Missions[0].SessionPath)
		if err != nil || bytes.Contains(text, []byte("WORDS")) != (from == source) {
			t.Errorf("the fork of %s holds the rewritten line: %v, %v", from, bytes.Contains(text, []byte("WORDS")), err)
		}
	}
	list, err := c.local.Missions(t.Context(), missions.MissionsRequest{Caller: c.caller(), All: true})
	if err != nil || len(list) != 3 {
		t.Errorf("%d missions, %v", len(list), err)
	}
	c.healthy()
}
