CREATE TABLE "audit_progress" (
	"project_id" text PRIMARY KEY NOT NULL,
	"indexed_from" bigint NOT NULL,
	"indexed_to" bigint NOT NULL,
	"lease_owner" text,
	"lease_until" bigint
);
--> statement-breakpoint
CREATE TABLE "audit_segments" (
	"project_id" text NOT NULL,
	"segment" bigint NOT NULL,
	"since_at" bigint NOT NULL,
	"until_at" bigint NOT NULL,
	CONSTRAINT "audit_segments_project_id_segment_pk" PRIMARY KEY("project_id","segment")
);
--> statement-breakpoint
CREATE TABLE "audit_terms" (
	"project_id" text NOT NULL,
	"bucket" integer NOT NULL,
	"segment" bigint NOT NULL,
	"terms" text NOT NULL,
	CONSTRAINT "audit_terms_project_id_bucket_segment_pk" PRIMARY KEY("project_id","bucket","segment")
);
--> statement-breakpoint
DROP INDEX "audit_blocks_at";