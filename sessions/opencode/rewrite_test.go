package opencode

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

func rewritten(t testing.TB, b []byte, to sessions.Rewrite) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := (Adapter{}).Rewrite(&out, bytes.NewReader(b), int64(len(b)), to); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func toFork(id string) sessions.Rewrite {
	return sessions.Rewrite{
		OldID: "ses_dfdc194c8ffe7Lo4cJY70O6NFC", NewID: id, OldCwd: "/home/dev/w", NewCwd: "/forks/one", OldRoot: "/home/dev/w", NewRoot: "/forks/one",
	}
}

// TestRewriteVersion: what forks have inherited is stored as its source and the
// version that made it. So these sums never change: for any other bytes there
// must be a new version beside the old one.
func TestRewriteVersion(t *testing.T) {
	const child = "ses_dfc2dd54effeTT5SNqRpAc3RoV"
	to := toFork("ses_dfdc194c8ffeAAAAAAAAAAAAAA")
	to.Version = 1
	for i, in := range [][]byte{
		fixture(t, "stopped.jsonl"), fixture(t, "compacted.jsonl"), []byte(taskLine(child) + "\n"),
		[]byte(signedLine(taskLine(child)) + "\n" + strings.ReplaceAll(taskLine(child), to.OldID, child) + "\n"),
	} {
		want := []string{
			"151a6d0aed0a452178fa3e2e85dd3ef00e4b2058c24ae7bc26730679f052b025",
			"bcd2c653553f17fda5f5ca6ef9f88abefdcb414422940ff1b26cd9d93fe0ae32",
			"6acde8714c26dec0cc51ce3d435b3eec5512798b1a0ab8c3cd12ee1ffc4be0a2",
			"5d439a2b9afe432ba707e1c9ae3d55ce5ce44a0da815a153fe4643a74ab2a62e",
		}[i]
		sum := sha256.Sum256(rewritten(t, in, to))
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("version 1 gives %s of the %d. text: recorded conversations of forks would be damaged", got, i+1)
		}
	}
	newer := toFork("ses_x")
	newer.Version = (Adapter{}).RewriteVersion() + 1
	if err := (Adapter{}).Rewrite(io.Discard, strings.NewReader("{}\n"), 3, newer); !errors.Is(err, sessions.ErrRewriteVersion) {
		t.Errorf("a newer version: %v", err)
	}
}

// taskLine is a part in which a subagent's session is named where OpenCode names it.
func taskLine(child string) string {
	return `{"type":"part","session":"ses_dfdc194c8ffe7Lo4cJY70O6NFC","value":{"id":"prt_2023e71cc0015dnGuJJcOVrZug","type":"tool","tool":"task","callID":"c","state":{"status":"completed","input":{"prompt":"see xses_dfc2dd54effeTT5SNqRpAc3RoV, ses_short"},"output":"<task id=\"` + child + `\" state=\"completed\">","metadata":{"parentSessionId":"ses_dfdc194c8ffe7Lo4cJY70O6NFC","sessionId":"` + child + `"}}}}`
}

// signedLine is a call's line with the model's signature.
func signedLine(line string) string {
	return strings.Replace(line, `"type":"tool"`, `"metadata":{"google":{"thoughtSignature":"c2ln"}},"type":"tool"`, 1)
}

// TestSubagentsRenamed: a copy names no session of its source's, so that its model
// goes on with no subagent of the source's.
func TestSubagentsRenamed(t *testing.T) {
	const child = "ses_dfc2dd54effeTT5SNqRpAc3RoV"
	to := toFork("ses_dfdc194c8ffeAAAAAAAAAAAAAA")
	in := taskLine(child) + "\n"
	out := string(rewritten(t, []byte(in), to))
	if strings.Contains(out, `"`+child) || strings.Contains(out, to.OldID) || strings.Count(out, to.NewID) != 2 {
		t.Errorf("it became %s", out)
	}
	if !strings.Contains(out, "see x"+child+", ses_short") {
		t.Errorf("another word was changed: %s", out)
	}
	back := sessions.Rewrite{OldID: to.NewID, NewID: to.OldID, OldCwd: to.NewCwd, NewCwd: to.OldCwd, OldRoot: to.NewRoot, NewRoot: to.OldRoot}
	if got := string(rewritten(t, []byte(out), back)); got != in {
		t.Errorf("there and back it is %s", got)
	}
	if got := string(rewritten(t, []byte(signedLine(in)), to)); got != signedLine(out) {
		t.Errorf("a signed call: %s", got)
	}
}

// TestNoIDStays: every id of a copy is its own, in the order they had, and no
// place of the old workspace is left but in the model's reasoning.
func TestNoIDStays(t *testing.T) {
	in := fixture(t, "stopped.jsonl")
	out := rewritten(t, in, toFork("ses_dfdc194c8ffeAAAAAAAAAAAAAA"))
	ids := func(b []byte) (list []string) {
		for _, word := range strings.Split(string(b), `"`) {
			if strings.HasPrefix(word, "msg_") || strings.HasPrefix(word, "prt_") || strings.HasPrefix(word, "ses_") {
				list = append(list, word)
			}
		}
		return list
	}
	old, now := ids(in), ids(out)
	if len(old) != len(now) || len(old) < 100 {
		t.Fatalf("%d ids, were %d", len(now), len(old))
	}
	became := map[string]string{}
	for i, id := range old {
		if now[i] == id || now[i][:fixed] != id[:fixed] && !strings.HasPrefix(id, "ses_") || became[id] != "" && became[id] != now[i] {
			t.Errorf("%s became %s", id, now[i])
		}
		became[id] = now[i]
	}
	for _, line := range lines(out) {
		if bytes.Contains(line, []byte("/home/dev/w")) != bytes.Contains(line, []byte(`"type":"reasoning"`)) {
			t.Errorf("a place of the source: %s", line)
		}
	}
	if bytes.Equal(out, rewritten(t, in, toFork("ses_dfdc194c8ffeBBBBBBBBBBBBBB"))) {
		t.Error("two forks have the same ids")
	}
}

func TestNewID(t *testing.T) {
	at := time.UnixMilli(1795334000000)
	first, next := (Adapter{}).NewID("0f0e0d0c-0b0a-4908-8706-050403020100", at), (Adapter{}).NewID("0f0e0d0c-0b0a-4908-8706-150403020100", at.Add(time.Second))
	if !isID(first) || len(first) != len("ses_dfdc194c8ffe7Lo4cJY70O6NFC") || !strings.HasPrefix(first, "ses_dfd") || next >= first {
		t.Errorf("ids %s and %s", first, next)
	}
}

func FuzzRewrite(f *testing.F) {
	f.Add(fixture(f, "talk.jsonl"))
	f.Add(fixture(f, "compacted.jsonl"))
	f.Fuzz(func(t *testing.T, b []byte) {
		out := rewritten(t, b, toFork("ses_dfdc194c8ffeAAAAAAAAAAAAAA"))
		if got, want := bytes.Count(out, []byte("\n")), bytes.Count(b, []byte("\n")); got != want {
			t.Fatalf("%d lines of %d", got, want)
		}
		if before, after := read(t, b), read(t, out); before.Bad != after.Bad || len(before.Turns) != len(after.Turns) || before.State != after.State {
			t.Fatalf("%d turns, %d bad, %s; then %d, %d, %s", len(before.Turns), before.Bad, before.State, len(after.Turns), after.Bad, after.State)
		}
	})
}

// TestSignedCall: a tool call whose metadata hold the model's signature keeps what the
// model says of the old workspace in it, as reasoning does; its ids and results are
// changed all the same.
func TestSignedCall(t *testing.T) {
	for _, line := range bytes.Split(fixture(t, "talk.jsonl"), []byte("\n")) {
		if !bytes.Contains(line, []byte(`"type":"tool"`)) || !bytes.Contains(line, []byte("/home/dev/w")) {
			continue
		}
		to := toFork("ses_dfdc194c8ffeAAAAAAAAAAAAAA")
		for text, kept := range map[string]int{string(line): 0, signedLine(string(line)): 1} {
			out := rewritten(t, []byte(text+"\n"), to)
			said := jsontext.Lookup(jsontext.Lookup(jsontext.Lookup(out, "value"), "state"), "input")
			if n := bytes.Count(out, []byte("/home/dev/w")); n != kept || n != bytes.Count(said, []byte("/home/dev/w")) || bytes.Contains(out, []byte(to.OldID)) {
				t.Errorf("kept %d: %s", kept, out)
			}
		}
		return
	}
	t.Fatal("no call names the workspace")
}
