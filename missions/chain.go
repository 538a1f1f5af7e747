package missions

func (t Triggers) HasTurnEnd() bool {
	return t.Has(TriggerIdle) || t.Has(TriggerError) || t.Has(TriggerClose)
}
