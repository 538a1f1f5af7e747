package conversations

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// SaidBefore is how much of the newest file of a recorded conversation is a copy of what was
// said in sessions that are known. It may have come through copies of which nothing else is
// left, as of a fork that was promoted and is gone.
func (l *Library) SaidBefore(p *projects.Project, record gitstore.ID, isKnown func(agent, session string) bool) (int64, error) {
	meta, err := records.ReadSessionMeta(p.Store, record)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return 0, nil
	}
	if err != nil || meta.Inherited == nil {
		return 0, err
	}
	in := *meta.Inherited
	source, err := records.ReadSessionMeta(p.Store, in.Record)
	if err != nil {
		return 0, err
	}
	if isKnown(source.Agent, source.SessionID) {
		return in.Length, nil
	}
	before, err := l.SaidBefore(p, in.Record, isKnown)
	if err != nil || before == 0 {
		return 0, err
	}
	return l.lengthInCopy(p, in, before)
}

// lengthInCopy is how long the first bytes of a source's newest file are in a copy of it.
func (l *Library) lengthInCopy(p *projects.Project, in records.Inherited, length int64) (int64, error) {
	var recipe CopyRecipe
	if err := json.Unmarshal(in.Recipe, &recipe); err != nil {
		return 0, fmt.Errorf("recipe: %w", err)
	}
	a := l.Adapter(recipe.Agent)
	if a == nil {
		return 0, fmt.Errorf("no adapter for %s", recipe.Agent)
	}
	source, _, err := l.openConversationWithFile(p, in.Record, "")
	if err != nil {
		return 0, err
	}
	defer source.Close()
	if length += source.offsetInWhole; length >= in.SourceLength {
		return in.Length, nil
	}
	var copied counter
	if err := a.Rewrite(&copied, source, length, recipe.AsRewrite()); err != nil {
		return 0, err
	}
	return min(int64(copied), in.Length), nil
}

// counter counts what is written.
type counter int64

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
