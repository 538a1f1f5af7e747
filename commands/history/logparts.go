package history

import (
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// firstPart is how many snapshots of a log are asked for first: some screens of them, which
// are there before a thousand times as many would be.
const firstPart = 200

// partedLog is a log that is asked for in two parts.
type partedLog struct {
	ask      func(missions.LogRequest) ([]missions.Entry, error)
	unpaired int // files among which renames were not looked for
}

// logRest asks for what is behind the first part; nil if there is nothing.
type logRest func() ([]missions.Entry, error)

// begin asks for the first part of a log, which ends with a turn, or for all of it.
func (l *partedLog) begin(r missions.LogRequest, inParts bool) ([]missions.Entry, logRest, error) {
	if !inParts {
		list, err := l.list(r)
		return list, nil, err
	}
	all := r
	r.Limit = firstPart
	list, err := l.list(r)
	if err != nil || len(list) < firstPart {
		return list, nil, err
	}
	list = wholeTurns(list)
	if len(list) == 0 {
		list, err = l.list(all)
		return list, nil, err
	}
	all.After = list[len(list)-1].ID
	return list, func() ([]missions.Entry, error) { return l.list(all) }, nil
}

func (l *partedLog) list(r missions.LogRequest) ([]missions.Entry, error) {
	list, err := l.ask(r)
	for _, e := range list {
		l.unpaired += e.Unpaired
	}
	return list, err
}

// wholeTurns leaves out the last turn of a list, of which there may be more.
func wholeTurns(list []missions.Entry) []missions.Entry {
	end := len(list)
	for end > 0 && list[end-1].Turn == list[len(list)-1].Turn {
		end--
	}
	return list[:end]
}

// writer writes the rest behind the first part, nil if there is none.
func (rest logRest) writer(o logOptions) func(*print.Printer) error {
	if rest == nil {
		return nil
	}
	return func(p *print.Printer) error {
		list, err := rest()
		if len(list) > 0 {
			p.Line("")
			writeLog(p, list, o)
		}
		return err
	}
}
