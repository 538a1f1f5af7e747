package history

import (
	"context"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// firstPart is how many snapshots of a log are asked for first: some screens of them, which
// are there before a thousand times as many would be.
const firstPart = 200

// partedLog is a log that is asked for in two parts.
type partedLog struct {
	ask      func(context.Context, missions.LogRequest) ([]missions.Entry, error)
	unpaired int // files among which renames were not looked for
}

// logRest asks for what is behind the first part; nil if there is nothing.
type logRest func(context.Context) ([]missions.Entry, error)

// begin asks for the first part of a log, which ends with a turn, or for all of it.
func (l *partedLog) begin(ctx context.Context, r missions.LogRequest, inParts bool) ([]missions.Entry, logRest, error) {
	if !inParts {
		list, err := l.list(ctx, r)
		return list, nil, err
	}
	all := r
	r.Limit = firstPart
	list, err := l.list(ctx, r)
	if err != nil || len(list) < firstPart {
		return list, nil, err
	}
	list = wholeTurns(list)
	if len(list) == 0 {
		list, err = l.list(ctx, all)
		return list, nil, err
	}
	all.After = list[len(list)-1].ID
	return list, func(ctx context.Context) ([]missions.Entry, error) { return l.list(ctx, all) }, nil
}

func (l *partedLog) list(ctx context.Context, r missions.LogRequest) ([]missions.Entry, error) {
	list, err := l.ask(ctx, r)
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
func (rest logRest) writer(o logOptions) func(context.Context, *print.Printer) error {
	if rest == nil {
		return nil
	}
	return func(ctx context.Context, p *print.Printer) error {
		list, err := rest(ctx)
		if len(list) > 0 {
			p.Line("")
			writeLog(p, list, o)
		}
		return err
	}
}
