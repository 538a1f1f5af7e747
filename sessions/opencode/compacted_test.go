package opencode

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// kept is the message from which on the compaction of compacted.jsonl keeps what was
// said, and compactedID the session.
const (
	kept        = "msg_209c7f1a2001HC7a1II1NZuJJj"
	compactedID = "ses_df6383f6affe6arf2xuXRxs7ka"
)

func compactedCopy() sessions.Rewrite {
	to := toFork("ses_dfdc194c8ffeAAAAAAAAAAAAAA")
	to.OldID = compactedID
	return to
}

// TestCompactedTail: the copy of a compaction keeps what was said from the copy's own
// message on.
func TestCompactedTail(t *testing.T) {
	b := fixture(t, "compacted.jsonl")
	tail := func(id string) []byte { return []byte(`"tail_start_id":"` + id + `"`) }
	out := rewritten(t, b, compactedCopy())
	own := string(turnOf(compactedID, compactedCopy().NewID).id([]byte(kept)))
	if own == kept || !bytes.Contains(out, tail(own)) || !bytes.Contains(out, []byte(`"id":"`+own+`","role":"user"`)) || bytes.Contains(out, []byte(kept)) {
		t.Errorf("it became %s", out[bytes.LastIndex(out, []byte(`"compaction"`)):])
	}
	back := compactedCopy()
	back.OldID, back.NewID, back.OldCwd, back.NewCwd, back.OldRoot, back.NewRoot = back.NewID, back.OldID, back.NewCwd, back.OldCwd, back.NewRoot, back.OldRoot
	if !bytes.Equal(rewritten(t, out, back), b) {
		t.Error("there and back it differs")
	}
}

// TestCompactedCut: what a compaction keeps is said after its summary, and which results
// are left out of what is sent after an answer. A cut takes both along, and nothing of
// a prompt that comes then.
func TestCompactedCut(t *testing.T) {
	b := fixture(t, "compacted.jsonl")
	if cut := cutOf(t, b); cut.Length != int64(len(b)) || cut.Dropped != 0 {
		t.Errorf("it is cut at %d of %d", cut.Length, len(b))
	}
	const pruned = `{"type":"part","session":"ses_1","value":{"id":"prt_9","messageID":"msg_209c7c7ba001gA4xIxO4Ak50sw","type":"tool","tool":"bash","callID":"c","state":{"status":"completed","time":{"start":1,"end":2,"compacted":3}}}}` + "\n"
	const prompt = `{"type":"message","session":"ses_1","value":{"id":"msg_9","role":"user","time":{"created":9}}}` + "\n"
	for more, whole := range map[string]bool{pruned: true, prompt: false, prompt + pruned: false, strings.ReplaceAll(pruned, "compacted", "x"): false} {
		if cut := cutOf(t, slices.Concat(b, []byte(more))); (cut.Length == int64(len(b)+len(more))) != whole || cut.Length < int64(len(b)) {
			t.Errorf("with %s it is cut at %d of %d", more, cut.Length, len(b)+len(more))
		}
	}
	if c := read(t, b); c.State != sessions.StateIdle || len(c.Turns) != 2 {
		t.Errorf("%s with %d turns", c.State, len(c.Turns))
	}
}

// TestIDsNamed: an id of a message or part is turned under any name of an id that
// OpenCode may give it, and left in a text, in what a call is given and in what others
// note.
func TestIDsNamed(t *testing.T) {
	const line = `{"type":"part","session":"` + compactedID + `","value":{"id":"prt_1","type":"tool","text":"` + kept + `",` +
		`"new_message_id":"` + kept + `","messageIDs":["` + kept + `",7],"metadata":{"openai":{"itemId":"` + kept + `"}},` +
		`"state":{"input":{"messageID":"` + kept + `"},"output":"{\"id\":\"` + kept + `\"}","error":{"id":"` + kept + `"},` +
		`"attachments":[{"id":"` + kept + `","messageID":"` + kept + `","sessionID":"` + compactedID + `","filename":"` + kept + `"}]}}}` + "\n"
	own := string(turnOf(compactedID, compactedCopy().NewID).id([]byte(kept)))
	want := strings.ReplaceAll(line, compactedID, compactedCopy().NewID)
	for _, name := range []string{`"new_message_id":"`, `"messageIDs":["`, `[{"id":"`} {
		want = strings.Replace(want, name+kept, name+own, 1)
	}
	want = strings.Replace(want, own+`","messageID":"`+kept, own+`","messageID":"`+own, 1)
	if got := string(rewritten(t, []byte(line), compactedCopy())); got != want {
		t.Errorf("it is\n%s\nwant\n%s", got, want)
	}
	deep := strings.Repeat(`{"x":`, 1e5) + `{"id":"` + kept + `"}` + strings.Repeat("}", 1e5)
	if got := rewritten(t, []byte(`{"type":"part","value":`+deep+"}\n"), compactedCopy()); !bytes.Contains(got, []byte(kept)) {
		t.Error("an id is found at any depth")
	}
}
