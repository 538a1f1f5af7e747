package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/umbra-vcs/umbra/scripts/draws"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

const (
	idA = "85b30534-6164-4966-a9c1-bdcae92e15c6"
	idB = "00000000-1111-4222-8333-444444444444"
)

func fork(from, to string) sessions.Rewrite {
	return sessions.Rewrite{OldID: idA, NewID: idB, OldCwd: from, NewCwd: to, OldRoot: from, NewRoot: to}
}

func rewritten(t testing.TB, in string, to sessions.Rewrite) string {
	t.Helper()
	var out bytes.Buffer
	if err := (Adapter{}).Rewrite(&out, strings.NewReader(in), int64(len(in)), to); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

type rewriteForm struct{ name, from, to, in, want string }

// line is a message with a text.
func (rewriteForm) line(text string) string {
	return `{"type":"user","message":{"role":"user","content":"` + text + `"},"uuid":"u"}` + "\n"
}

// rewriteForms are the forms in which a path stands in a line.
func rewriteForms() []rewriteForm {
	return []rewriteForm{
		{"alone", "/a/b", "/n", `/a/b`, `/n`},
		{"below", "/a/b", "/n", `/a/b/c.go:12`, `/n/c.go:12`},
		{"many", "/a/b", "/n", `cd /a/b && cat /a/b/x /a/b/y`, `cd /n && cat /n/x /n/y`},
		{"list", "/a/b", "/n", `PATH=/a/b:/a/b/bin,/a/b;(/a/b)`, `PATH=/n:/n/bin,/n;(/n)`},
		{"quoted", "/a/b", "/n", `\"/a/b\"`, `\"/n\"`},
		{"line start", "/a/b", "/n", `x\n/a/b\t/a/b\r\n`, `x\n/n\t/n\r\n`},
		{"escaped line start", "/a/b", "/n", `printf \"\\n/a/b\\n\"`, `printf \"\\n/n\\n\"`},
		{"url", "/a/b", "/n", `file:///a/b/x`, `file:///n/x`},
		{"sentence", "/a/b", "/n", `in /a/b. And /a/b, /a/b...`, `in /n. And /n, /n...`},
		{"other name", "/a/b", "/n", `/a/bc /a/b-2 /a/b_x /a/b.bak /a/b~ /a/b+ /a/b9 /a/bé`, `/a/bc /a/b-2 /a/b_x /a/b.bak /a/b~ /a/b+ /a/b9 /a/bé`},
		{"longer path", "/a/b", "/n", `/x/a/b x/a/b ./a/b ../a/b ~/a/b $H/a/b ${H}/a/b //a/b é/a/b`, `/x/a/b x/a/b ./a/b ../a/b ~/a/b $H/a/b ${H}/a/b //a/b é/a/b`},
		{"shell-escaped space", "/a/b", "/n", `/a/b\\ c`, `/a/b\\ c`},
		{"after a letter's escape", "/a/b", "/n", `\u00e9/a/b \u2028/a/b`, `\u00e9/a/b \u2028/n`},
		{"before a letter's escape", "/a/b", "/n", `/a/b\u00e9 /a/b\u2028`, `/a/b\u00e9 /n\u2028`},
		{"slashes escaped", "/a/b", "/n/m", `\/a\/b\/c`, `\/n\/m\/c`},
		{"JSON in JSON", "/a/b", "/n/m", `{\"p\":\"\\/a\\/b\\/c\"}`, `{\"p\":\"\\/n\\/m\\/c\"}`},
		{"non-ASCII plain", "/ä/b", "/ö", `/ä/b/c`, `/ö/c`},
		{"non-ASCII escaped", "/ä/b", "/ö", `/\u00e4/b/c /\u00E4/b`, `/\u00f6/c /\u00f6`},
		{"non-ASCII escaped twice", "/ä/b", "/ö", `/\\u00e4/b/c`, `/\\u00f6/c`},
		{"emoji", "/p/🙂/w", "/q/🙃", `/p/🙂/w /p/\ud83d\ude42/w`, `/q/🙃 /q/\ud83d\ude43`},
		{"no ASCII at all", "/日本", "/中国", `/日本/x /\u65e5\u672c /日本語`, `/中国/x /\u4e2d\u56fd /日本語`},
		{"quote in the name", `/a/"b"`, `/n"\m`, `/a/\"b\"/c`, `/n\"\\m/c`},
		{"newline in the name", "/a/b\nc", "/n\t", `/a/b\nc/d`, `/n\t/d`},
		{"space in the name", "/a/my repo", "/n", `/a/my repo/x`, `/n/x`},
		{"space in a command", "/a/my repo", "/n/my fork", `cat /a/my\\ repo/x '/a/my repo/y'`, `cat /n/my\\ fork/x '/n/my fork/y'`},
		{"not UTF-8", "/a/b\xff", "/n\xfe", "/a/b\ufffd/x", "/n\ufffd/x"},
		{"one letter", "/b", "/n", `/b /a/b /bb`, `/n /a/b /bb`},
		{"flag", "/a/b", "/n", `cc -I/a/b/include -L/a/b -isystem/a/b/x --prefix=/a/b -Wl,-rpath,/a/b\n-I\/a\/b`, `cc -I/n/include -L/n -isystem/n/x --prefix=/n -Wl,-rpath,/n\n-I\/n`},
		{"no flag", "/a/b", "/n", `x-I/a/b /-I/a/b --I/a/b -Ix/a/b -I/x/a/b -/a/b`, `x-I/a/b /-I/a/b --I/a/b -Ix/a/b -I/x/a/b -/a/b`},
		{"diff", "/a/b", "/n", `diff --git a/a/b/x b/a/b/x\n--- a/a/b/x\n+++ /a/b/x\n-/a/b/bin\n+/a/b/bin`, `diff --git a/n/x b/n/x\n--- a/n/x\n+++ /n/x\n-/n/bin\n+/n/bin`},
		{"lines of a diff", "/a/b", "/n", `[\"-/a/b\",\"+/a/b\"]`, `[\"-/n\",\"+/n\"]`},
		{"no diff", "/a/b", "/n", `cp a/a/b b/a/b 1+/a/b \n--- c/a/b\nb/a/b`, `cp a/a/b b/a/b 1+/a/b \n--- c/a/b\nb/a/b`},
	}
}

// TestRewriteText pins what is and is not taken for the old path, in every form
// in which it stands in a line.
func TestRewriteText(t *testing.T) {
	for _, c := range rewriteForms() {
		t.Run(c.name, func(t *testing.T) {
			if got := rewritten(t, c.line(c.in), fork(c.from, c.to)); got != c.line(c.want) {
				t.Errorf("rewrote %s\n got %s want %s", c.in, got, c.line(c.want))
			}
		})
	}
}

// TestRewriteFields pins which fields are edited: the top-level ones alone.
func TestRewriteFields(t *testing.T) {
	in := transcript(
		`{"type":"mode","sessionId":"`+idA+`"}`,
		`{"sessionId":"99999999-6164-4966-a9c1-bdcae92e15c6","session_id":"`+idA+`","forkedFrom":{"sessionId":"`+idA+`"},"cwd":"/w/sub"}`,
		`{"message":{"sessionId":"`+idA+`","content":"id `+idA+`"},"cwd":"/elsewhere","uuid":"`+idA+`"}`,
		`garbage `+idA+` /w/x`,
		`{"cwd":"/w2"}`,
		``,
		`{"message":{"content":[{"type":"thinking","thinking":"in /w/x","signature":"s"},{"type":"text","text":"in /w/x"},{"type":"redacted_thinking","data":"/w/x"}]}}`,
		`{"toolUseResult":{"persistedOutputPath":"/h/.claude/projects/-w/`+idA+`/tool-results/b.txt"},"t":"/h/.claude/projects/-w/`+idA+`.jsonl /h/projects/other/`+idA+`/x /tmp/claude-0/-w/`+idA+`/tasks"}`,
	)
	want := transcript(
		`{"type":"mode","sessionId":"`+idB+`"}`,
		`{"sessionId":"99999999-6164-4966-a9c1-bdcae92e15c6","session_id":"`+idA+`","forkedFrom":{"sessionId":"`+idA+`"},"cwd":"/srv/n/sub"}`,
		`{"message":{"sessionId":"`+idA+`","content":"id `+idA+`"},"cwd":"/elsewhere","uuid":"`+idA+`"}`,
		`garbage `+idA+` /w/x`,
		`{"cwd":"/w2"}`,
		``,
		`{"message":{"content":[{"type":"thinking","thinking":"in /w/x","signature":"s"},{"type":"text","text":"in /srv/n/x"},{"type":"redacted_thinking","data":"/w/x"}]}}`,
		`{"toolUseResult":{"persistedOutputPath":"/h/.claude/projects/-srv-n/`+idB+`/tool-results/b.txt"},"t":"/h/.claude/projects/-srv-n/`+idB+`.jsonl /h/projects/other/`+idB+`/x /tmp/claude-0/-w/`+idA+`/tasks"}`,
	)
	if got := rewritten(t, in+`{"torn":"`, fork("/w", "/srv/n")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestRewriteWorktree: a copy for another workspace has left the worktree that its
// session was in, wherever that is. One for the same workspace has not.
func TestRewriteWorktree(t *testing.T) {
	state := func(session string) string {
		return transcript(`{"type":"worktree-state","worktreeSession":` + session + `,"sessionId":"` + idB + `"}`)
	}
	for _, in := range []string{
		`{"originalCwd":"/w","worktreePath":"/w/.claude/worktrees/nat","worktreeName":"nat","sessionId":"` + idA + `"}`,
		`{"originalCwd":"/w","worktreePath":"/elsewhere/nat","sessionId":"` + idA + `","hookBased":true}`,
		`null`,
	} {
		for to, want := range map[string]string{"/srv/n": "null", "/w": in} {
			if got := rewritten(t, state(in), fork("/w", to)); got != state(want) {
				t.Errorf("for %s it became\n%s want\n%s", to, got, state(want))
			}
		}
	}
}

// TestRewriteSamePlace: a restore changes the id and nothing else.
func TestRewriteSamePlace(t *testing.T) {
	for _, name := range transcripts {
		b := string(fixture(t, name))
		to := fork("/home/dev/w2", "/home/dev/w2")
		got := rewritten(t, b, to)
		if strings.ReplaceAll(got, idB, idA) != b {
			t.Errorf("%s: more than ids changed", name)
		}
	}
}

// TestRewriteRealTranscripts compares the search with a JSON parse, line by
// line, on every transcript there is.
func TestRewriteRealTranscripts(t *testing.T) {
	for _, name := range transcripts {
		b := fixture(t, name)
		conv, err := sessions.ReadConversation(Adapter{}, bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		to := fork(conv.Cwd, "/srv/über \"forks\"/x")
		to.OldID = conv.ID
		in, out := linesOf(b), linesOf([]byte(rewritten(t, string(b), to)))
		if len(in) != len(out) {
			t.Fatalf("%s: %d lines became %d", name, len(in), len(out))
		}
		for i := range in {
			want := model(decode(t, in[i]), to, true)
			if got := decode(t, out[i]); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: line %d\n got %v\nwant %v", name, i+1, got, want)
			}
		}
	}
}

func decode(t interface{ Fatalf(string, ...any) }, b []byte) any {
	var v any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("not JSON: %v: %s", err, b)
	}
	return v
}

// model says what a rewrite does, on decoded values.
func model(v any, to sessions.Rewrite, top bool) any {
	switch v := v.(type) {
	case string:
		return modelText(v, to)
	case []any:
		for i := range v {
			v[i] = model(v[i], to, false)
		}
	case map[string]any:
		if isSigned(v) {
			return v
		}
		out := map[string]any{}
		for key, value := range v {
			if top && key == "sessionId" && value == to.OldID {
				out[key] = to.NewID
				continue
			}
			if top && key == "cwd" {
				out[key] = modelCwd(value, to)
				continue
			}
			out[modelText(key, to)] = model(value, to, false)
		}
		return out
	}
	return v
}

// isSigned reports whether an object is a block that carries a signature.
func isSigned(v map[string]any) bool {
	kind, _ := v["type"].(string)
	signature, _ := v["signature"].(string)
	return kind == "thinking" || kind == "redacted_thinking" || kind != "" && signature != ""
}

func modelCwd(v any, to sessions.Rewrite) any {
	s, ok := v.(string)
	if rest, in := strings.CutPrefix(s, to.OldRoot); ok && in && (rest == "" || rest[0] == '/') {
		return to.NewRoot + rest
	}
	return v
}

// modelText replaces whole paths in decoded text.
func modelText(s string, to sessions.Rewrite) string {
	s = strings.ReplaceAll(s, "/projects/"+slug(to.OldCwd)+"/"+to.OldID, "/projects/"+slug(to.NewCwd)+"/"+to.NewID)
	var out strings.Builder
	runes, old := []rune(s), []rune(to.OldRoot)
	for i := 0; i < len(runes); {
		if i+len(old) <= len(runes) && string(runes[i:i+len(old)]) == to.OldRoot &&
			modelStart(runes[:i]) && modelEnd(runes[i+len(old):]) {
			out.WriteString(to.NewRoot)
			i += len(old)
			continue
		}
		out.WriteRune(runes[i])
		i++
	}
	return out.String()
}

func modelStart(before []rune) bool {
	if len(before) == 0 || strings.HasSuffix(string(before), "://") {
		return true
	}
	n := len(before)
	if sign := before[n-1]; (sign == '-' || sign == '+') && (n == 1 || before[n-2] == '\n' || before[n-2] == '"') {
		return true // in a diff
	}
	if n > 1 && before[n-1] == 'x' && before[n-2] == '-' {
		return modelStart(before[:n-2]) // behind a flag
	}
	return !jsonlines.InName(before[len(before)-1]) && !strings.ContainsRune("/})]*?.~", before[len(before)-1])
}

func modelEnd(after []rune) bool {
	rest := after
	for len(rest) > 0 && rest[0] == '.' {
		rest = rest[1:]
	}
	if len(rest) > 0 && rest[0] == '/' {
		return len(rest) == len(after)
	}
	return len(rest) == 0 || !jsonlines.InName(rest[0])
}

// encodeJSON writes a value as JSON with a random choice among the forms each
// character may have.
func encodeJSON(t *rapid.T, v any) string {
	switch v := v.(type) {
	case string:
		return encodeString(t, v)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = encodeJSON(t, v[i])
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, `"`+key+`" : `+encodeJSON(t, v[key]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	b, _ := json.Marshal(v)
	return string(b)
}

func encodeString(t *rapid.T, s string) string {
	slashes, escapes := rapid.Bool().Draw(t, "slashes"), rapid.Bool().Draw(t, "escapes")
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '/' && slashes:
			out.WriteString(`\/`)
		case r >= 0x80 && escapes:
			for _, u := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&out, `\u%04x`, u)
			}
		default:
			out.Write(jsontext.AppendEscaped(nil, r))
		}
	}
	out.WriteByte('"')
	return out.String()
}

// TestRewriteProperty compares the search with a JSON parse: lines whose values and
// encodings are drawn, decoded, changed as the model says, and compared. What a colon
// before a path means is pinned in jsonlines.
func TestRewriteProperty(t *testing.T) { rapid.Check(t, rewriteProperty) }

// FuzzRewriteProperty is TestRewriteProperty, led by coverage.
func FuzzRewriteProperty(f *testing.F) { draws.Fuzz(f, rewriteProperty) }

func rewriteProperty(t *rapid.T) {
	from := rapid.SampledFrom([]string{"/a/b", "/home/dev/w", "/ä/b", "/日本", "/a/my repo", "/p/🙂/w", "/q"}).Draw(t, "from")
	dest := rapid.SampledFrom([]string{"/n", "/srv/forks/w-2", "/ö/ü", "/中", "/n/my fork", "/🙃", `/say "hi"`}).Draw(t, "to")
	to := fork(from, dest)
	piece := rapid.SampledFrom([]string{from, from, from + "/x.go", "/", "x", " ", ",", ".", "\n", "\t", "é", "…", "-", "\"", "file://", idA,
		"/h/projects/" + slug(from) + "/" + idA + "/tool-results/1.txt", "🙂", "2", "(", ")", "/x" + from, "}", "~", "=", "\u2028"})
	words := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), "")
	})
	blocks := rapid.Custom(func(t *rapid.T) any {
		kind := rapid.SampledFrom([]string{"text", "thinking", "redacted_thinking", "tool_use", "tool_result"}).Draw(t, "kind")
		b := map[string]any{"type": kind, "text": words.Draw(t, "text"), "input": map[string]any{"file_path": words.Draw(t, "path")}}
		if rapid.Bool().Draw(t, "signed") {
			b["signature"] = words.Draw(t, "signature")
		}
		return b
	})
	content := rapid.SliceOfN(blocks, 0, 4).Draw(t, "content")
	line := map[string]any{
		"type": "user", "sessionId": rapid.SampledFrom([]string{idA, idB, ""}).Draw(t, "id"),
		"cwd":     rapid.SampledFrom([]string{from, from + "/sub", from + "x", "/tmp"}).Draw(t, "cwd"),
		"message": map[string]any{"content": content, "sessionId": idA},
		"n":       1, "ok": true, "none": nil,
	}
	in := encodeJSON(t, line) + "\n"
	var out bytes.Buffer
	if err := (Adapter{}).Rewrite(&out, strings.NewReader(in), int64(len(in)), to); err != nil {
		t.Fatal(err)
	}
	if bytes.Count(out.Bytes(), []byte("\n")) != 1 {
		t.Fatalf("one line became %q", out.String())
	}
	got, want := decode(t, out.Bytes()), model(decode(t, []byte(in)), to, true)
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("in   %s\ngot  %v\nwant %v", in, got, want)
	}
}

// alike reports whether two values differ in text alone, and in no signed block
// below the line itself. Keys may be paths: of those that both have the values are
// compared.
func alike(a, b any, line bool) bool {
	switch a := a.(type) {
	case string:
		_, ok := b.(string)
		return ok
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, func(x, y any) bool { return alike(x, y, false) })
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || !line && isSigned(a) && !reflect.DeepEqual(a, b) {
			return false
		}
		for key, value := range a {
			if other, ok := b[key]; ok && !alike(value, other, false) {
				return false
			}
		}
		return true
	}
	return a == b
}

// FuzzRewrite: whatever the line and the places, JSON stays JSON that differs in
// text alone, lines stay lines, and a rewrite there and nowhere changes nothing.
func FuzzRewrite(f *testing.F) {
	f.Add([]byte(`{"sessionId":"`+idA+`","cwd":"/a/b","message":{"content":[{"type":"text","text":"/a/b/c \\/a\\/b \u00e9/a/b"}]}}`), "/a/b", "/n\"\\\xff/ü")
	f.Add([]byte(`{"m":[{"type":"thinking","signature":"/ä x","t":"/\u00e4\\ x /\u00e4 x"}]}`), "/ä x", "/y z")
	f.Add([]byte(`{"p":"/h/projects/-a/`+idA+`/x \/h\/projects\/-a\/`+idA+`"}`), "/a", "/b")
	f.Add([]byte(`{"p":"\ud83d\ude42/日本"}`), "/日本", "/🙂")
	f.Fuzz(func(t *testing.T, in []byte, from, dest string) {
		if len(in) > 4096 || len(from) > 64 || len(dest) > 64 || !strings.HasPrefix(from, "/") || !strings.HasPrefix(dest, "/") {
			return
		}
		var out bytes.Buffer
		in = append(in, '\n')
		if err := (Adapter{}).Rewrite(&out, bytes.NewReader(in), int64(len(in)), fork(from, dest)); err != nil {
			t.Fatal(err)
		}
		before, after := linesOf(in), linesOf(out.Bytes())
		if len(before) != len(after) {
			t.Fatalf("%d lines became %d", len(before), len(after))
		}
		for i := range before {
			if json.Valid(before[i]) && (!json.Valid(after[i]) || !alike(decode(t, before[i]), decode(t, after[i]), true)) {
				t.Fatalf("%s became %s", before[i], after[i])
			}
		}
		same := fork(from, from)
		same.NewID = idA
		out.Reset()
		if err := (Adapter{}).Rewrite(&out, bytes.NewReader(in), int64(len(in)), same); err != nil || !bytes.Equal(out.Bytes(), in) {
			t.Fatalf("%s became %s, %v", in, out.Bytes(), err)
		}
	})
}
