package gemini

import (
	"bytes"
	"io"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

func TestContract(t *testing.T) {
	for _, name := range []string{"resumed.jsonl", "cancelled.jsonl", "denied.jsonl", "refused.jsonl"} {
		t.Run(name, func(t *testing.T) {
			s := subject(t, Adapter{}, name)
			if len(s.Payloads) != 7 || len(s.Prompts) == 0 || s.Cwd == "" {
				t.Fatalf("payloads of %d kinds, prompts %q in %q", len(s.Payloads), s.Prompts, s.Cwd)
			}
			sessionstest.Test(t, s)
		})
	}
}

// The faulty adapters each break one promise.
type (
	keepsHeaders struct{ Adapter }
	keepsPrompt  struct{ Adapter }
	keepsHash    struct{ Adapter }
	dropsPrompt  struct{ Adapter }
)

func (keepsHeaders) Rewrite(w io.Writer, r io.Reader, length int64, to sessions.Rewrite) error {
	to.NewID = to.OldID
	return Adapter{}.Rewrite(w, r, length, to)
}

func (keepsPrompt) Cut(r io.Reader) (sessions.Cut, error) {
	b, err := io.ReadAll(r)
	return sessions.Cut{Length: int64(len(b)), Events: bytes.Count(b, []byte("\n"))}, err
}

func (keepsHash) Rewrite(w io.Writer, r io.Reader, length int64, to sessions.Rewrite) error {
	to.OldCwd = to.NewCwd
	return Adapter{}.Rewrite(w, r, length, to)
}

func (dropsPrompt) Launch(o sessions.Launch) (sessions.Command, error) {
	o.Prompt = ""
	return Adapter{}.Launch(o)
}

// TestContractCatches: the suite finds each fault.
func TestContractCatches(t *testing.T) {
	for name, a := range map[string]sessions.Adapter{
		"keeps headers": keepsHeaders{}, "keeps prompt": keepsPrompt{}, "keeps hash": keepsHash{}, "drops prompt": dropsPrompt{},
	} {
		s := subject(t, a, "resumed.jsonl")
		if problems := s.Check(); len(problems) == 0 {
			t.Errorf("an adapter that %s passes the suite", name)
		}
	}
}
