CREATE TABLE "audit_anchors" (
	"project_id" text NOT NULL,
	"last_seq" bigint NOT NULL,
	"first_seq" bigint NOT NULL,
	"hash" text NOT NULL,
	"at" bigint NOT NULL,
	"mac" text NOT NULL,
	CONSTRAINT "audit_anchors_project_id_last_seq_pk" PRIMARY KEY("project_id","last_seq")
);
