CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
CREATE TABLE erasures (
	id VARCHAR(64) NOT NULL, 
	user_id VARCHAR(128) NOT NULL, 
	scope VARCHAR(16) NOT NULL, 
	turn_id VARCHAR(64), 
	asked_at DATETIME NOT NULL, 
	status VARCHAR(12) NOT NULL, 
	receipt JSON NOT NULL, 
	CONSTRAINT pk_erasures PRIMARY KEY (id)
);
CREATE INDEX ix_erasures_user_id ON erasures (user_id);
CREATE TABLE meta (
	"key" VARCHAR(64) NOT NULL, 
	value TEXT NOT NULL, 
	CONSTRAINT pk_meta PRIMARY KEY ("key")
);
CREATE TABLE outbox (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	op VARCHAR(8) NOT NULL, 
	user_id VARCHAR(128) NOT NULL, 
	fact_id VARCHAR(64) NOT NULL, 
	index_id VARCHAR(64), 
	erasure_id VARCHAR(64), 
	attempts INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	next_at DATETIME NOT NULL, 
	leased_by VARCHAR(64), 
	leased_until DATETIME, 
	last_error TEXT NOT NULL
);
CREATE INDEX ix_outbox_erasure ON outbox (erasure_id);
CREATE INDEX ix_outbox_fact ON outbox (fact_id);
CREATE INDEX ix_outbox_next ON outbox (next_at);
CREATE TABLE recalls (
	id VARCHAR(64) NOT NULL, 
	user_id VARCHAR(128) NOT NULL, 
	turn_id VARCHAR(64) NOT NULL, 
	at DATETIME NOT NULL, 
	"trigger" TEXT NOT NULL, 
	recalled BOOLEAN NOT NULL, 
	budget_tokens INTEGER NOT NULL, 
	tokens INTEGER NOT NULL, 
	elapsed_ms FLOAT NOT NULL, 
	fallback BOOLEAN NOT NULL, 
	reason TEXT NOT NULL, 
	CONSTRAINT pk_recalls PRIMARY KEY (id)
);
CREATE INDEX ix_recalls_turn_id ON recalls (turn_id);
CREATE INDEX ix_recalls_user_at ON recalls (user_id, at);
CREATE TABLE tombstones (
	digest VARCHAR(64) NOT NULL, 
	user_id VARCHAR(128) NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_tombstones PRIMARY KEY (digest)
);
CREATE INDEX ix_tombstones_user_id ON tombstones (user_id);
CREATE TABLE turns (
	id VARCHAR(64) NOT NULL, 
	user_id VARCHAR(128) NOT NULL, 
	session_id TEXT NOT NULL, 
	at DATETIME NOT NULL, 
	text TEXT NOT NULL, 
	assistant_before TEXT NOT NULL, 
	assistant_after TEXT NOT NULL, 
	language VARCHAR(16), 
	confidence FLOAT, 
	redacted BOOLEAN NOT NULL, 
	seq BIGINT NOT NULL, 
	CONSTRAINT pk_turns PRIMARY KEY (id)
);
CREATE INDEX ix_turns_seq ON turns (seq);
CREATE INDEX ix_turns_user_at ON turns (user_id, at);
CREATE INDEX ix_turns_user_session ON turns (user_id, session_id, seq);
CREATE TABLE decisions (
	id INTEGER NOT NULL, 
	turn_id VARCHAR(64) NOT NULL, 
	user_id VARCHAR(128) NOT NULL, 
	at DATETIME NOT NULL, 
	verdict VARCHAR(16) NOT NULL, 
	signals JSON NOT NULL, 
	reason TEXT NOT NULL, 
	rule_id TEXT NOT NULL, 
	confidence FLOAT NOT NULL, 
	gate_version TEXT NOT NULL, 
	fallback BOOLEAN NOT NULL, 
	extraction_method TEXT NOT NULL, 
	facts_extracted INTEGER NOT NULL, 
	elapsed_us FLOAT NOT NULL, 
	resolution VARCHAR(16) NOT NULL, 
	CONSTRAINT pk_decisions PRIMARY KEY (id), 
	CONSTRAINT fk_decisions_turn_id FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE CASCADE
);
CREATE INDEX ix_decisions_turn_id ON decisions (turn_id);
CREATE INDEX ix_decisions_user_verdict ON decisions (user_id, verdict, resolution);
CREATE TABLE facts (
	id VARCHAR(64) NOT NULL, 
	user_id VARCHAR(128) NOT NULL, 
	subject TEXT NOT NULL, 
	slot TEXT, 
	value TEXT NOT NULL, 
	value_key TEXT NOT NULL, 
	text TEXT NOT NULL, 
	text_key TEXT NOT NULL, 
	category VARCHAR(32) NOT NULL, 
	kind VARCHAR(16) NOT NULL, 
	cardinality VARCHAR(8) NOT NULL, 
	polarity VARCHAR(16) NOT NULL, 
	confidence FLOAT NOT NULL, 
	entities JSON NOT NULL, 
	domain TEXT, 
	sensitive BOOLEAN NOT NULL, 
	"when" TEXT, 
	expires_at DATETIME, 
	recorded_at DATETIME NOT NULL, 
	valid_from DATETIME NOT NULL, 
	valid_until DATETIME, 
	ended_at DATETIME, 
	end_reason VARCHAR(24) NOT NULL, 
	superseded_by VARCHAR(64), 
	"conflict" BOOLEAN NOT NULL, 
	withdrawn_by VARCHAR(64), 
	source_type VARCHAR(16) NOT NULL, 
	turn_id VARCHAR(64), 
	rule_id TEXT NOT NULL, 
	extraction_method TEXT NOT NULL, 
	extraction_version TEXT NOT NULL, 
	use_count INTEGER NOT NULL, 
	last_used_at DATETIME, 
	index_id VARCHAR(64), 
	CONSTRAINT pk_facts PRIMARY KEY (id), 
	CONSTRAINT fk_facts_turn_id FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE SET NULL
);
CREATE INDEX ix_facts_live ON facts (user_id, valid_until, valid_from);
CREATE INDEX ix_facts_text_key ON facts (user_id, text_key);
CREATE INDEX ix_facts_turn ON facts (turn_id);
CREATE INDEX ix_facts_value_key ON facts (user_id, value_key);
CREATE TABLE fact_turns (
	fact_id VARCHAR(64) NOT NULL, 
	turn_id VARCHAR(64) NOT NULL, 
	role VARCHAR(12) NOT NULL, 
	CONSTRAINT pk_fact_turns PRIMARY KEY (fact_id, turn_id, role), 
	CONSTRAINT fk_fact_turns_fact_id FOREIGN KEY(fact_id) REFERENCES facts (id) ON DELETE CASCADE, 
	CONSTRAINT fk_fact_turns_turn_id FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE CASCADE
);
CREATE INDEX ix_fact_turns_turn ON fact_turns (turn_id);
CREATE TABLE fact_words (
	fact_id VARCHAR(64) NOT NULL, 
	word VARCHAR(64) NOT NULL, 
	user_id VARCHAR(128) NOT NULL, 
	CONSTRAINT pk_fact_words PRIMARY KEY (fact_id, word), 
	CONSTRAINT fk_fact_words_fact_id FOREIGN KEY(fact_id) REFERENCES facts (id) ON DELETE CASCADE
);
CREATE TABLE feedback (
	id INTEGER NOT NULL, 
	user_id VARCHAR(128) NOT NULL, 
	fact_id VARCHAR(64), 
	turn_id VARCHAR(64), 
	at DATETIME NOT NULL, 
	helpful BOOLEAN NOT NULL, 
	source VARCHAR(16) NOT NULL, 
	CONSTRAINT pk_feedback PRIMARY KEY (id), 
	CONSTRAINT fk_feedback_fact_id FOREIGN KEY(fact_id) REFERENCES facts (id) ON DELETE CASCADE, 
	CONSTRAINT fk_feedback_turn_id FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE SET NULL
);
CREATE INDEX ix_feedback_fact_id ON feedback (fact_id);
CREATE INDEX ix_feedback_turn_id ON feedback (turn_id);
CREATE INDEX ix_feedback_user_id ON feedback (user_id);
CREATE TABLE recall_items (
	recall_id VARCHAR(64) NOT NULL, 
	fact_id VARCHAR(64) NOT NULL, 
	given BOOLEAN NOT NULL, 
	why TEXT NOT NULL, 
	score FLOAT NOT NULL, 
	semantic FLOAT NOT NULL, 
	recency FLOAT NOT NULL, 
	domain FLOAT NOT NULL, 
	usage FLOAT NOT NULL, 
	kind FLOAT NOT NULL, 
	CONSTRAINT pk_recall_items PRIMARY KEY (recall_id, fact_id), 
	CONSTRAINT fk_recall_items_fact_id FOREIGN KEY(fact_id) REFERENCES facts (id) ON DELETE CASCADE, 
	CONSTRAINT fk_recall_items_recall_id FOREIGN KEY(recall_id) REFERENCES recalls (id) ON DELETE CASCADE
);
CREATE INDEX ix_recall_items_fact_id ON recall_items (fact_id);
CREATE INDEX ix_facts_user_id ON facts (user_id, id);
CREATE INDEX ix_facts_slot ON facts (user_id, subject, slot, valid_from);
CREATE INDEX ix_fact_words_word ON fact_words (user_id, word, fact_id);
CREATE INDEX ix_facts_withdrawn ON facts (withdrawn_by) WHERE withdrawn_by IS NOT NULL;
CREATE TABLE model_queue (turn_id VARCHAR(64) NOT NULL, user_id VARCHAR(128) NOT NULL, aim VARCHAR(8) NOT NULL, promise FLOAT, attempts INTEGER NOT NULL, next_at DATETIME NOT NULL, last_error TEXT NOT NULL, CONSTRAINT pk_model_queue PRIMARY KEY (turn_id), CONSTRAINT fk_model_queue_turn_id FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE CASCADE);
CREATE INDEX ix_model_queue_next ON model_queue (next_at, user_id);
CREATE INDEX ix_facts_people ON facts (user_id, subject, valid_from) WHERE valid_until IS NULL AND withdrawn_by IS NULL AND subject <> 'user' AND subject <> 'team';
CREATE INDEX ix_facts_live_slot ON facts (user_id, slot, valid_from) WHERE valid_until IS NULL AND withdrawn_by IS NULL;
CREATE INDEX ix_facts_newest ON facts (user_id, valid_from);
CREATE INDEX ix_facts_superseded_by ON facts (superseded_by) WHERE superseded_by IS NOT NULL;
INSERT INTO alembic_version VALUES('0005');
