package claude

import (
	"bytes"
	"io"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// bigTranscript is about 32 MB of real lines.
func bigTranscript(b *testing.B) []byte {
	one := fixture(b, "2.1.329/tools-subagent-compact/85b30534-6164-4966-a9c1-bdcae92e15c6.jsonl")
	return bytes.Repeat(one, (32<<20)/len(one))
}

func BenchmarkCut(b *testing.B) {
	data := bigTranscript(b)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := (Adapter{}).Cut(bytes.NewReader(data)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRewrite(b *testing.B) {
	data := bigTranscript(b)
	to := sessions.Rewrite{
		OldID: "85b30534-6164-4966-a9c1-bdcae92e15c6", NewID: "00000000-1111-4222-8333-444444444444",
		OldCwd: "/home/dev/w2", NewCwd: "/srv/forks/w2", OldRoot: "/home/dev/w2", NewRoot: "/srv/forks/w2",
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := (Adapter{}).Rewrite(io.Discard, bytes.NewReader(data), int64(len(data)), to); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	data := bigTranscript(b)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := sessions.ReadConversation(Adapter{}, bytes.NewReader(data)); err != nil {
			b.Fatal(err)
		}
	}
}
