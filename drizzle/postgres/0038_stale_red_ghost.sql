CREATE TABLE "paused_code" (
	"id" text PRIMARY KEY NOT NULL,
	"project_id" text NOT NULL,
	"user_id" text,
	"state" text NOT NULL,
	"running_until" bigint,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "paused_code" ADD CONSTRAINT "paused_code_project_id_projects_id_fk" FOREIGN KEY ("project_id") REFERENCES "public"."projects"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "paused_code_expiry" ON "paused_code" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "paused_code_of_project" ON "paused_code" USING btree ("project_id","expires_at");--> statement-breakpoint
CREATE INDEX "paused_code_of_user" ON "paused_code" USING btree ("project_id","user_id");