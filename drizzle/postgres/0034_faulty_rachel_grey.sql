CREATE TABLE "quota_counts" (
	"project_id" text NOT NULL,
	"subject" text NOT NULL,
	"policy" text NOT NULL,
	"window_start" bigint NOT NULL,
	"window_end" bigint NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "quota_counts_project_id_subject_policy_window_start_pk" PRIMARY KEY("project_id","subject","policy","window_start")
);
--> statement-breakpoint
ALTER TABLE "quota_counts" ADD CONSTRAINT "quota_counts_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "quota_counts_end" ON "quota_counts" USING btree ("window_end");