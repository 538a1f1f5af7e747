package sessionstest

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

func identityFaults() []fault {
	return []fault{
		{"for its own or another's", Subject.checkIdentity, func(w whole, _ Subject) sessions.Adapter { return runsAll{w} }},
		{"is not its own, or outside the store", Subject.checkIdentity, func(w whole, _ Subject) sessions.Adapter { return onePath{w} }},
		{"opening no session", Subject.checkIdentity, func(w whole, _ Subject) sessions.Adapter { return opensNone{w} }},
		{"has no session open", Subject.checkIdentity, func(w whole, _ Subject) sessions.Adapter { return seesLive{w} }},
		{"two new sessions have the id", Subject.checkPlace, func(w whole, _ Subject) sessions.Adapter { return oneID{w} }},
		{"is looked for at", Subject.checkPlace, func(w whole, _ Subject) sessions.Adapter { return movesOn{w} }},
		{"is opened as", Subject.checkPlace, func(w whole, _ Subject) sessions.Adapter { return opensOther{w} }},
		{"place a session", Subject.checkPlace, func(w whole, _ Subject) sessions.Adapter { return noPlace{w} }},
		{"a side file named", Subject.checkSides, func(w whole, _ Subject) sessions.Adapter { return placesAnywhere{w} }},
		{"has the side files", Subject.checkSides, func(w whole, _ Subject) sessions.Adapter { return inventsSides{w} }},
	}
}

type (
	runsAll        struct{ whole }
	onePath        struct{ whole }
	opensNone      struct{ whole }
	seesLive       struct{ whole }
	oneID          struct{ whole }
	movesOn        struct{ whole }
	opensOther     struct{ whole }
	noPlace        struct{ whole }
	placesAnywhere struct{ whole }
	inventsSides   struct{ whole }
)

func (runsAll) Runs([]string) bool { return true }

func (a onePath) Path(env sessions.Environ, cwd, _ string) string {
	return a.whole.Path(env, cwd, otherID)
}

func (a opensNone) Open(path string) (sessions.Session, error) {
	one, err := a.whole.Open(path)
	if errors.Is(err, sessions.ErrNoSession) {
		return sessions.Session{}, nil
	}
	return one, err
}

func (seesLive) Live(sessions.Environ, string) (int, bool) { return 1, true }

func (a oneID) NewID(_ string, at time.Time) string { return a.whole.NewID(otherID, at) }

func (a movesOn) Path(env sessions.Environ, cwd, id string) string {
	path := a.whole.Path(env, cwd, id)
	if _, err := os.Stat(path); err == nil {
		return path + ".2"
	}
	return path
}

func (a opensOther) Open(path string) (sessions.Session, error) {
	one, err := a.whole.Open(path)
	one.ID += "x"
	return one, err
}

func (noPlace) Path(sessions.Environ, string, string) string { return os.DevNull + "/x" }

func (placesAnywhere) PlaceSides(_ sessions.Environ, sides []string, _ func(string) (io.ReadCloser, error), _ sessions.Rewrite) ([]sessions.File, error) {
	return []sessions.File{{Path: sides[0]}}, nil
}

func (inventsSides) Sides(sessions.Environ, sessions.Session) ([]sessions.Side, error) {
	return []sessions.Side{{Name: "x"}}, nil
}
