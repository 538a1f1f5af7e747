package missions

import "context"

// Gate is a Service that refuses what would write while nothing may be written
// (Space.Low), before it begins, and lets everything else through: whoever serves
// one, or uses one itself, asks through it. An agent's events go through, since the
// agent waits for an answer: their snapshots are refused where they are taken. So
// does what makes room, or notes an agent's end, unless nothing can be written at all.
func Gate(s Service, space *Space) Service {
	return Relay(func(ctx context.Context, m Method, request, result any) error {
		if err := space.admit(m, request); err != nil {
			return err
		}
		return m.Call(ctx, s, request, result)
	})
}

// admit says why a call is refused.
func (s *Space) admit(m Method, request any) error {
	if r, ok := request.(interface{ OnlyReads() bool }); ok && r.OnlyReads() {
		return nil
	}
	switch {
	case m.Is(Grows):
		return s.Low()
	case m.Is(Changes):
		return s.home.ReadOnly()
	}
	return nil
}

// OnlyReads reports whether a request changes nothing.
func (r RestoreRequest) OnlyReads() bool { return r.Preview }

// OnlyReads reports whether a request changes nothing.
func (r UndoRequest) OnlyReads() bool { return r.Preview }

// OnlyReads reports whether a request changes nothing.
func (r RemoveRequest) OnlyReads() bool { return r.Preview }

// OnlyReads reports whether a request changes nothing.
func (r TrashRequest) OnlyReads() bool { return !r.Empty }

// OnlyReads reports whether a request changes nothing.
func (r DoctorRequest) OnlyReads() bool { return !r.Fix && !r.Rebuild }
